"""What older versions stored about staging and temporary changes is still read."""

import json

from importer.engine.schema.indexes import ForeignKey, KeyDefinition
from importer.engine.stored import from_json, to_json
from importer.engine.target.staging import Staged
from importer.engine.target.temporary_changes import TemporaryChanges


def test_staged_of_an_older_plan_has_no_settle_or_later():
    stored = {
        "mode": "replace",
        "on_duplicate": "fail",
        "table": "t",
        "table_digest": "263b6fba967dc4a2",
        "make": ["CREATE TABLE `s`.`stage` LIKE `s`.`t`"],
        "finish": "RENAME TABLE `s`.`t` TO `s`.`old`, `s`.`stage` TO `s`.`t`",
        "old": "old",
        "numbered": False,
    }
    staged = from_json(Staged, stored)
    assert (staged.make, staged.settle, staged.later) == (tuple(stored["make"]), (), ())
    assert from_json(Staged, json.loads(json.dumps(to_json(staged)))) == staged


def test_temporary_changes_of_an_older_version_have_no_variables():
    stored = {
        "schema": "s",
        "table": "t",
        "keys": [{"name": "by_time", "sql": "KEY `by_time` (`time`)"}],
        "foreign_keys": [
            {
                "name": "of_parent",
                "sql": "CONSTRAINT `of_parent` FOREIGN KEY (`parent`) REFERENCES `parents` (`id`)",
                "columns": ["parent"],
                "parent": "`parents`",
                "parent_columns": ["id"],
            }
        ],
    }
    changes = from_json(TemporaryChanges, stored)
    assert changes.keys == (KeyDefinition("by_time", "KEY `by_time` (`time`)"),)
    assert changes.foreign_keys == (
        ForeignKey("of_parent", stored["foreign_keys"][0]["sql"], ("parent",), "`parents`", ("id",)),
    )
    assert to_json(changes) == {**stored, "keys": tuple(stored["keys"]), "variables": {}} | {
        "foreign_keys": ({**stored["foreign_keys"][0], "columns": ("parent",), "parent_columns": ("id",)},)
    }


def test_temporary_changes_keep_variables_as_they_were():
    stored = {"schema": "s", "table": "t", "variables": {"sync_binlog": 0, "innodb_adaptive_hash_index": "off"}}
    assert from_json(TemporaryChanges, stored).variables == stored["variables"]

"""While an update runs, processes of the release before still work on the tables: migrations must leave them working.

The rule is in CONTRIBUTING.md, the order of an update in docs/operations.md.
"""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.db import connection, migrations, models
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.operations.base import Operation
from django.db.migrations.state import ModelState, ProjectState
from django.db.models.fields import NOT_PROVIDED

# Each released version with its last migration, the newest last. Migrations after that are under the rule; before the
# first release, those after FIRST.
RELEASES: dict[str, str] = {}
FIRST = "0001_initial"
CHANGELOG = Path(__file__).parents[2] / "CHANGELOG.md"
# Operations that old code survives although they look otherwise, as "migration: operation", each with the reason, such
# as "no code has used the field since 0.3".
EXCEPTIONS: dict[str, str] = {
    "0002_attempts: Remove field past_attempts_json from importjob": "no release has had the field",
    **{
        f"{migration}: Remove field {flag} from importjob": "no release has had the field"
        for migration, flags in (
            ("0005_staging", ("finished", "leftover", "staged")),
            ("0006_changes", ("arranged", "left_changed", "unrestored")),
        )
        for flag in flags
    },
}

GONE = (migrations.RemoveField, migrations.DeleteModel, migrations.RenameField, migrations.RenameModel)
REFUSING = (migrations.AddConstraint, migrations.AlterUniqueTogether)
UNKNOWN = (migrations.AlterModelTable, migrations.RunSQL)


def why_old_code_fails(operation: Operation, before: ProjectState) -> str:
    """Why the release before would fail on the tables after this operation; "" if it would not."""
    if isinstance(operation, GONE):
        return "it reads and writes what is gone: remove it one release after the code that uses it"
    if isinstance(operation, REFUSING):
        return "it may write rows that are refused now: add the rule one release after the code that keeps it"
    if isinstance(operation, UNKNOWN):
        return "nobody knows: say in EXCEPTIONS why it does not"
    if isinstance(operation, migrations.AddField):
        return _written_without(operation.field)
    if isinstance(operation, migrations.AlterField):
        return _altered(before.models["importer", operation.model_name_lower].fields[operation.name], operation.field)
    if isinstance(operation, migrations.SeparateDatabaseAndState):
        whys = [why_old_code_fails(each, before) for each in operation.database_operations]
        return next(filter(None, whys), "")
    return ""


def _written_without(field: models.Field) -> str:
    """Old code inserts rows without the new column."""
    filled = field.null or field.has_db_default() or field.many_to_many
    return "" if filled else "it inserts rows without the field: give it a db_default, or null=True"


def _altered(old: models.Field, new: models.Field) -> str:
    if old.null and not new.null and new.db_default is NOT_PROVIDED:
        return "it writes NULL: forbid that one release after the code that writes none"
    if old.has_db_default() and not new.has_db_default() and not new.null:
        return "it inserts rows without the field, which has no db_default any more"
    if _kind(old) != _kind(new) or (new.max_length or 0) < (old.max_length or 0) or (new.unique and not old.unique):
        return "it writes values that no longer fit: add another field, and move the values"
    return ""


def _kind(field: models.Field) -> str:
    return (field.db_type(connection) or "").partition("(")[0]


def under_the_rule() -> Iterator[tuple[str, Operation, ProjectState]]:
    """Each operation of a migration under the rule, with its name and the state before it."""
    loader = MigrationLoader(None)
    last = [FIRST, *RELEASES.values()][-1]
    for key, migration in sorted(loader.graph.nodes.items()):
        if key[0] == "importer" and key[1] > last:
            state = loader.project_state(key, at_end=False)
            for operation in migration.operations:
                yield f"{key[1]}: {operation.describe()}", operation, state.clone()
                operation.state_forwards("importer", state)


def test_each_release_is_recorded_with_its_last_migration():
    headings = re.findall(r"^## (\S+)(.*)$", CHANGELOG.read_text(), re.MULTILINE)
    assert list(RELEASES) == [version for version, more in reversed(headings) if "unreleased" not in more]


def test_the_release_before_works_on_the_tables_of_each_migration():
    failing = {name: why_old_code_fails(operation, before) for name, operation, before in under_the_rule()}
    assert {name: why for name, why in failing.items() if why and name not in EXCEPTIONS} == {}


TABLE = ProjectState({("importer", "thing"): ModelState("importer", "Thing", [
    ("id", models.AutoField(primary_key=True)),
    ("word", models.CharField(max_length=8, null=True)),
    ("number", models.IntegerField(db_default=0)),
])})  # fmt: skip


@pytest.mark.parametrize(
    "operation",
    [
        migrations.RemoveField("thing", "word"),
        migrations.RenameField("thing", "word", "text"),
        migrations.RenameModel("Thing", "Object"),
        migrations.DeleteModel("Thing"),
        migrations.RunSQL("SELECT 1"),
        migrations.AddField("thing", "more", models.IntegerField(default=0)),
        migrations.AddConstraint("thing", models.UniqueConstraint(fields=["word"], name="one_word")),
        migrations.AlterField("thing", "word", models.CharField(max_length=8, default="")),
        migrations.AlterField("thing", "word", models.CharField(max_length=4, null=True)),
        migrations.AlterField("thing", "word", models.CharField(max_length=8, null=True, unique=True)),
        migrations.AlterField("thing", "word", models.IntegerField(null=True)),
        migrations.AlterField("thing", "number", models.IntegerField(default=0)),
        migrations.SeparateDatabaseAndState([migrations.RemoveField("thing", "word")], []),
    ],
    ids=lambda each: each.describe(),
)
def test_an_operation_that_old_code_does_not_survive_is_found(operation: Operation):
    assert why_old_code_fails(operation, TABLE)


@pytest.mark.parametrize(
    "operation",
    [
        migrations.AddField("thing", "more", models.IntegerField(null=True)),
        migrations.AddField("thing", "more", models.JSONField(db_default=models.Value([], models.JSONField()))),
        migrations.AlterField("thing", "word", models.CharField(max_length=16, null=True)),
        migrations.AlterField("thing", "word", models.CharField(max_length=8, null=True, choices=[("a", "A")])),
        migrations.AddIndex("thing", models.Index(fields=["word"], name="word")),
        migrations.CreateModel("Other", [("id", models.AutoField(primary_key=True))]),
        migrations.SeparateDatabaseAndState([], [migrations.RemoveField("thing", "word")]),
    ],
    ids=lambda each: each.describe(),
)
def test_an_operation_that_old_code_survives_passes(operation: Operation):
    assert why_old_code_fails(operation, TABLE) == ""

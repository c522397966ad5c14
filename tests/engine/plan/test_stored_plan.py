"""A stored plan: flat, and readable when an older version wrote it."""

import pytest

from importer.engine.feed.hex_decoder import HexStatement
from importer.engine.plan.options import Options
from importer.engine.plan.plan import ImportPlan, LoadStatements
from importer.engine.plan.stored_plan import options_from_json, plan_from_json, plan_to_json

# The keys that every version has written.
OLDEST = {
    "method": "load_data_local",
    "schema": "sales",
    "table": "orders",
    "statement": "LOAD DATA ...",
    "null_word_statement": "LOAD DATA null",
    "traced_statement": "LOAD DATA traced",
    "chunk_bytes": 1000,
    "parallelism": 2,
    "table_digest": "0123",
    "fields": ["id", ""],
    "reasons": [],
}


def test_a_plan_of_an_older_version_takes_the_defaults():
    plan = plan_from_json(OLDEST)
    assert plan == ImportPlan(
        statements=LoadStatements("load_data_local", "LOAD DATA ...", "LOAD DATA null", "LOAD DATA traced"),
        schema="sales",
        table="orders",
        chunk_bytes=1000,
        parallelism=2,
        table_digest="0123",
        fields=("id", ""),
        reasons=(),
    )


def test_statements_are_stored_next_to_the_other_fields():
    newer = {
        **OLDEST,
        "bytes_statement": "LOAD DATA bytes",
        "bytes_ascii_only": True,
        "unhexed": {"statement": "LOAD DATA unhexed", "hexadecimal": [True, False], "ascii_only": False},
        "rows_per_statement": 100,
        "files_folder": "/pipes",
        "arrangement": {"schema": "sales", "table": "orders", "keys": [], "foreign_keys": []},
        "dropped_by_a_later_version": 1,
    }
    plan = plan_from_json(newer)
    assert plan.statements.unhexed == HexStatement("LOAD DATA unhexed", (True, False), False)
    assert (plan.statements.as_bytes, plan.statements.as_bytes_ascii_only) == ("LOAD DATA bytes", True)
    assert (plan.statements.rows_per_statement, plan.statements.pipe_folder) == (100, "/pipes")
    written = plan_to_json(plan)
    assert (
        written.items()
        >= {key: newer[key] for key in ("method", "statement", "bytes_statement", "files_folder")}.items()
    )
    assert (written["arrangement"]["table"], "statements" in written) == ("orders", False)


def test_a_method_that_is_gone_is_what_does_the_same():
    assert plan_from_json({**OLDEST, "method": "insert_single"}).statements.method == "insert"
    single = Options(method="insert", rows_per_statement=1, commit_rows=1)
    assert options_from_json({"method": "insert_single"}) == single


@pytest.mark.parametrize(
    ("stored", "most"),
    [
        ({"reject_limit": "none"}, None),
        ({"reject_limit": "none", "max_rejects": 7}, 7),
        ({"reject_limit": "none", "max_reject_percent": 2}, 20),
        ({"reject_limit": "default"}, 100),
    ],
)
def test_a_limit_of_rejects_of_an_older_version_stays(stored: dict, most: int | None):
    older = {"on_error": "reject", "checks": True, "load_as": "innodb", **stored}
    assert options_from_json(older).most_rejects(1000) == most
    assert options_from_json({**older, "on_error": "stop"}).most_rejects(1000) is None


@pytest.mark.parametrize("missing", ["method", "statement", "table"])
def test_a_plan_without_a_required_key_is_refused(missing: str):
    with pytest.raises(ValueError, match="missing required field"):
        plan_from_json({key: value for key, value in OLDEST.items() if key != missing})

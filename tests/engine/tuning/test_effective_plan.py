"""Which plans are the same: those that do the same with a file, though their settings differ."""

import pytest

from importer.engine.mapping.columns import ColumnMapping
from importer.engine.plan.options import Options
from importer.engine.planner import PlanningContext, make_plan
from importer.engine.schema.indexes import Indexes, KeyDefinition
from importer.engine.schema.table import Key, Table
from importer.engine.source.chunks.chunk_sizes import ChunkSizes
from importer.engine.source.dialect import RFC4180
from importer.engine.tuning.effective_plan import effective_key, expected_chunks
from importer.engine.units import MIB
from tests.engine.planner.test_planner import column, server

RECORD_BYTES = 100
INSERT = {"method": "insert"}


def key(data_bytes: int, table: str = "t", partitions: int | None = None, **options) -> str:
    """The key of the plan with these options, for a file of that size."""
    plan = make_plan(
        PlanningContext(
            data_bytes,
            RFC4180,
            Table("s", table, "InnoDB", (column("a"),), (Key("a", ("a",), False),)),
            [ColumnMapping("a")],
            Options(**options),
            server(),
            indexes=Indexes(keys=(KeyDefinition("a", "KEY `a` (`a`)"),), empty=True),
            record_bytes=RECORD_BYTES,
        )
    )
    return effective_key(plan, expected_chunks(plan.chunk_sizes, data_bytes, RECORD_BYTES), partitions)


@pytest.mark.parametrize(
    ("data_bytes", "one", "other", "same"),
    [
        # The first chunks double from 256 KiB on, so a chunk of 16 MiB comes after as many bytes.
        (10 * MIB, {"chunk_bytes": 16 * MIB}, {"chunk_bytes": 32 * MIB}, True),
        (50 * MIB, {"chunk_bytes": 16 * MIB}, {"chunk_bytes": 32 * MIB}, False),
        (MIB // 8, {"parallelism": 1}, {"parallelism": 8}, True),
        (10 * MIB, {"parallelism": 1}, {"parallelism": 8}, False),
        (MIB, {"commit_rows": 100_000}, {"commit_rows": 1_000_000}, True),
        (MIB, {"commit_rows": 100}, {"commit_rows": 1000}, False),
        (MIB, {**INSERT, "rows_per_statement": 50_000}, {**INSERT, "rows_per_statement": 100_000}, True),
        (MIB, {**INSERT, "rows_per_statement": 10}, {**INSERT, "rows_per_statement": 100}, False),
        (MIB, {"method": "load_data_local"}, {"method": "insert_prepared"}, False),
        (MIB, {"unique_checks": True}, {"unique_checks": False}, False),
        (MIB, {"isolation": ""}, {"isolation": "SERIALIZABLE"}, False),
        (MIB, {"indexes": "keep"}, {"indexes": "defer"}, False),
        (MIB, {"indexes": "auto"}, {"indexes": "keep"}, True),
    ],
)  # fmt: skip
def test_plans_are_the_same_if_they_do_the_same_with_this_file(data_bytes, one, other, same):
    assert (key(data_bytes, **one) == key(data_bytes, **other)) == same


def test_the_number_of_partitions_belongs_to_the_plan_and_the_name_of_the_table_does_not():
    assert key(MIB, partitions=4) != key(MIB, partitions=8)
    for indexes in ("keep", "defer"):
        assert key(MIB, "millrace_lab_1", indexes=indexes) == key(MIB, "millrace_lab_12", indexes=indexes)


def test_expected_chunks_have_whole_records_and_all_bytes():
    chunks = expected_chunks(ChunkSizes(1000, rows=None), 10_050, 300.0)
    assert [(each.offset, each.length, each.rows) for each in chunks[:2]] == [(0, 900, 3), (900, 900, 3)]
    assert sum(each.rows for each in chunks) == round(10_050 / 300)
    assert {each.rows for each in expected_chunks(ChunkSizes(1000, rows=2), 1800, 300.0)} == {2}
    # A record that is larger than a chunk is one of its own.
    assert [each.rows for each in expected_chunks(ChunkSizes(100), 900, 300.0)] == [1, 1, 1]

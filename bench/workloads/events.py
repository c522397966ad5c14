"""Three related tables: events, the tables at an event, and registrants with 1,024 random bytes each."""

from collections.abc import Sequence

import numpy as np

from bench.workloads.generators import SeededRandom, Text, chosen, whole
from bench.workloads.table import Columns, Workload, WorkloadField, WorkloadTable

BLOB_BYTES = 1024
# Of ten rows, 1 is an event, 3 are tables and 6 registrants: an event has 3 tables, a table 2 registrants.
ROWS_OF_ALL = 10
_ID = WorkloadField("id", "INT UNSIGNED NOT NULL")
_NAME = WorkloadField("name", "VARCHAR(45) NOT NULL")


def _event(chance: SeededRandom, first: int, rows: int) -> Sequence[Text]:
    return _number(first, rows), _name(chance, "Event", rows)


def _sitting_table(chance: SeededRandom, first: int, rows: int) -> Sequence[Text]:
    return _number(first, rows), _number(first, rows, each=3), _name(chance, "Table", rows)


def _registrant(chance: SeededRandom, first: int, rows: int) -> Sequence[Text]:
    name = _name(chance, "Guest", rows)
    return _number(first, rows), _number(first, rows, each=2), name, chance.hexadecimal(BLOB_BYTES, rows)


def _number(first: int, rows: int, each: int = 1) -> Text:
    return whole(np.arange(first, first + rows) // each + 1, 10)


def _name(chance: SeededRandom, kind: str, rows: int) -> Text:
    return np.hstack([chosen([f"{kind} "], chance.below(1, rows)), chance.strings(5, 15, rows)])


def _table(
    name: str, share: int, columns: Columns, *fields: WorkloadField, parent: str = "", linked: bool
) -> WorkloadTable:
    reference = f"CONSTRAINT {name}_{parent} FOREIGN KEY ({parent}_id) REFERENCES {parent} (id)"
    return WorkloadTable(
        name=name,
        fields=(_ID, *fields),
        columns=columns,
        keys=(f"KEY {parent}_id ({parent}_id)",) if parent else (),
        references=(reference,) if parent and linked else (),
        options="CHARACTER SET latin1",
        share=share,
        of=ROWS_OF_ALL,
    )


def events(*, linked: bool) -> Workload:
    """The three tables with keys; `linked`: with foreign keys, too."""
    return Workload(
        name="events-linked" if linked else "events",
        title="Three tables with keys" + (" and foreign keys" if linked else "") + ", one with a blob of 1,024 bytes",
        tables=(
            _table("event", 1, _event, _NAME, linked=linked),
            _table(
                "sitting_table",
                3,
                _sitting_table,
                WorkloadField("event_id", "INT UNSIGNED NOT NULL"),
                _NAME,
                parent="event",
                linked=linked,
            ),
            _table(
                "registrant",
                6,
                _registrant,
                WorkloadField("sitting_table_id", "INT UNSIGNED NOT NULL"),
                _NAME,
                WorkloadField("features", "BLOB NOT NULL", hexadecimal=True),
                parent="sitting_table",
                linked=linked,
            ),
        ),
        rows=500_000,
        full_rows=50_000_000,
        row_bytes=1270,
    )

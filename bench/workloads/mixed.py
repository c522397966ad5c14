"""Small rows of mixed types: 6 columns, 26 bytes per row in the table and about 45 in the file."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import numpy as np

from bench.workloads.generators import SeededRandom, Text, chosen, decimal, whole
from bench.workloads.table import Workload, WorkloadField, WorkloadTable

DAYS = [f"{datetime(2000, 1, 1, tzinfo=UTC) + timedelta(days=number):%Y-%m-%d}" for number in range(9000)]


def _columns(chance: SeededRandom, first: int, rows: int) -> Sequence[Text]:
    return (
        whole(np.arange(first + 1, first + 1 + rows), 10),
        whole(chance.below(1_000_000, rows), 6),
        whole(chance.below(1000, rows), 3),
        decimal(chance.below(1_000_000, rows), 4, 2),
        chosen(DAYS, chance.below(len(DAYS), rows)),
        chance.strings(7, 7, rows),
    )


MIXED = Workload(
    name="mixed",
    title="Small rows, 6 columns of mixed types",
    tables=(
        WorkloadTable(
            name="mixed",
            fields=(
                WorkloadField("id", "INT UNSIGNED NOT NULL"),
                WorkloadField("customer", "INT UNSIGNED NOT NULL"),
                WorkloadField("quantity", "SMALLINT UNSIGNED NOT NULL"),
                WorkloadField("price", "DECIMAL(9,2) NOT NULL"),
                WorkloadField("day", "DATE NOT NULL"),
                WorkloadField("code", "VARCHAR(20) NOT NULL"),
            ),
            columns=_columns,
        ),
    ),
    rows=1_200_000,
    full_rows=1_200_000,
    row_bytes=45,
)

"""Rows for a table with a given number of hash partitions; the rows do not depend on that number."""

from collections.abc import Sequence

import numpy as np

from bench.workloads.generators import SeededRandom, Text, whole
from bench.workloads.table import Workload, WorkloadField, WorkloadTable


def _columns(chance: SeededRandom, first: int, rows: int) -> Sequence[Text]:
    return (
        whole(np.arange(first + 1, first + 1 + rows), 10),
        whole(chance.below(10_000_000, rows), 7),
        chance.strings(60, 60, rows),
        chance.strings(20, 40, rows),
    )


def partitioned(partitions: int) -> Workload:
    """The workload with a table of `partitions` hash partitions."""
    return Workload(
        name=f"partitioned-{partitions}",
        title=f"One secondary key, hash partitions: {partitions}",
        tables=(
            WorkloadTable(
                name="partitioned",
                fields=(
                    WorkloadField("id", "INT UNSIGNED NOT NULL"),
                    WorkloadField("k", "INT UNSIGNED NOT NULL"),
                    WorkloadField("c", "CHAR(60) NOT NULL"),
                    WorkloadField("pad", "VARCHAR(60) NOT NULL"),
                ),
                columns=_columns,
                keys=("KEY k (k)",),
                options=f"CHARACTER SET latin1 PARTITION BY HASH (id) PARTITIONS {partitions}",
            ),
        ),
        rows=2_000_000,
        full_rows=10_000_000,
        row_bytes=108,
    )

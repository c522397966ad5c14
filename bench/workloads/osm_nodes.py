"""OpenStreetMap-like nodes: 8 columns, about 79 bytes a row, in key order."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from functools import cache

import numpy as np

from bench.workloads.generators import SeededRandom, Text, chosen, decimal, whole
from bench.workloads.table import Workload, WorkloadField, WorkloadTable

FIRST_STAMP = datetime(2007, 1, 1, tzinfo=UTC)
USERS = [f"user{number * 7919 % 10**6}" for number in range(5000)]
# Mean distance between neighbouring keys.
GAP = 8


@cache
def stamps() -> list[str]:
    """100,000 timestamps (8 MB), generated on first use: workers import this module and never need them."""
    return [f"{FIRST_STAMP + timedelta(seconds=977 * number):%Y-%m-%d %H:%M:%S}" for number in range(100_000)]


def _columns(chance: SeededRandom, first: int, rows: int) -> Sequence[Text]:
    # Each row's key lies in its own interval, so that a block can be generated without the blocks before it.
    keys = np.arange(first, first + rows) * GAP + chance.between(1, GAP, rows)
    user = chance.below(len(USERS), rows)
    return (
        whole(keys, 10),
        decimal(chance.between(-900_000_000, 900_000_000, rows), 2, 7),
        decimal(chance.between(-1_800_000_000, 1_800_000_000, rows), 3, 7),
        whole(user % 9 + 1, 1),
        chosen(stamps(), keys % len(stamps())),
        whole(keys % 9_999_991, 7),
        whole(user * 37, 6),
        chosen(USERS, user),
    )


NODES = Workload(
    name="nodes",
    title="OpenStreetMap-like nodes, 8 columns, in key order",
    tables=(
        WorkloadTable(
            name="nodes",
            fields=(
                WorkloadField("id", "BIGINT NOT NULL"),
                WorkloadField("lat", "DECIMAL(9,7) NOT NULL"),
                WorkloadField("lon", "DECIMAL(10,7) NOT NULL"),
                WorkloadField("version", "INT NOT NULL"),
                WorkloadField("ts", "TIMESTAMP NOT NULL DEFAULT '2000-01-01 00:00:00'"),
                WorkloadField("changeset", "BIGINT NOT NULL"),
                WorkloadField("uid", "BIGINT NOT NULL"),
                WorkloadField("user", "VARCHAR(255) NOT NULL"),
            ),
            columns=_columns,
        ),
    ),
    rows=4_000_000,
    full_rows=46_741_126,
    row_bytes=79,
)

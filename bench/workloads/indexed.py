"""Random numbers and strings for a table with an AUTO_INCREMENT key and two secondary keys on random data."""

from collections.abc import Sequence

from bench.workloads.generators import SeededRandom, Text, chosen, whole
from bench.workloads.osm_nodes import stamps
from bench.workloads.table import Workload, WorkloadField, WorkloadTable


def _columns(chance: SeededRandom, _first: int, rows: int) -> Sequence[Text]:
    return (
        whole(chance.below(65_536, rows), 5),
        chance.strings(5, 20, rows),
        chance.strings(5, 25, rows),
        chance.strings(5, 25, rows),
        chance.strings(10, 34, rows),
        chance.strings(10, 34, rows),
        chosen(stamps(), chance.below(len(stamps()), rows)),
    )


INDEXED = Workload(
    name="indexed",
    title="Random strings, AUTO_INCREMENT key, two secondary keys",
    tables=(
        WorkloadTable(
            name="benchmark_data",
            fields=(
                WorkloadField("user_id", "SMALLINT UNSIGNED NOT NULL"),
                WorkloadField("a", "VARCHAR(20) NOT NULL"),
                WorkloadField("b", "VARCHAR(30) NOT NULL"),
                WorkloadField("c", "VARCHAR(40) NOT NULL"),
                WorkloadField("d", "VARCHAR(255) NOT NULL"),
                WorkloadField("e", "VARCHAR(254) NOT NULL"),
                WorkloadField("created", "TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP"),
            ),
            columns=_columns,
            own=("id INT UNSIGNED NOT NULL AUTO_INCREMENT",),
            keys=("KEY a_b (a, b)", "KEY user_id (user_id)"),
            options="CHARACTER SET latin1",
        ),
    ),
    rows=2_846_799,
    full_rows=2_846_799,
    row_bytes=118,
)

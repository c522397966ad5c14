"""(b) Single INSERTs, transactions, and LOAD DATA with and without checks, by the size of bulks on an indexed table."""

from importer.engine.plan.options import Options
from importer.experiments.experiment import Claim, Experiment, ImportAction, RawAction, Way, WayTable
from importer.experiments.raw import inserts
from importer.experiments.workloads import INDEXED

# Rows per second. The article gives percentages: 28,108 rows/s are 2,124 % more than its single INSERTs.
SINGLE = 28_108 / 22.24
(_TABLE,) = INDEXED.tables
_ONE = (WayTable(_TABLE),)
# By rows per bulk: the article's rate, and the approximate rate on two cores, both in rows per second.
TRANSACTIONS = {2: (None, 900), 50: (None, 4_000), 1000: (None, 5_000), 10_000: (1588.0, 5_000)}
LOADS = {
    2: (SINGLE * 2.53, 1_500),
    50: (None, 20_000),
    1000: (SINGLE * 21.27, 60_000),
    10_000: (28_108.0, 70_000),
    100_000: (None, 70_000),
}
UNCHECKED = {1000: 60_000, 10_000: 70_000}


def _transaction(rows: int, published: float | None, rate: float) -> Way:
    options = Options(method="insert", rows_per_statement=1, commit_rows=rows, parallelism=1, indexes="keep")
    name = f"single INSERTs, commit each {rows:,}"
    return Way(name, ImportAction(options), _ONE, rate, published, most_rows=4_000 if rows == 2 else 40_000)


def _load(rows: int, published: float | None, rate: float, *, checks: bool = True) -> Way:
    options = Options(
        method="load_data_local",
        commit_rows=rows,
        parallelism=1,
        indexes="keep",
        unique_checks=checks,
    )
    name = f"LOAD DATA, bulks of {rows:,}" + ("" if checks else ", no unique checks")
    most = 4_000 if rows == 2 else 100_000 if rows == 50 else None
    return Way(name, ImportAction(options), _ONE, rate, published, most_rows=most)


BULKS = Experiment(
    name="bulks",
    article="Improve MySQL Insert Performance (mysqlBulk)",
    asks="what transactions, LOAD DATA and checks are worth on an indexed table, by the size of bulks",
    conditions="MySQL 5.0.51a, Xeon E5335 2 GHz, 4 GB, four disks in RAID 10; 2 to 100,000 rows a bulk",
    workload=INDEXED,
    small_rows=100_000,
    baseline="single INSERTs, commit each",
    ways=(
        Way("single INSERTs, commit each", RawAction(inserts.insert(1, 1)), _ONE, 700, SINGLE, most_rows=2_000),
        *(_transaction(rows, *rates) for rows, rates in TRANSACTIONS.items()),
        *(_load(rows, *rates) for rows, rates in LOADS.items()),
        *(_load(rows, None, rate, checks=False) for rows, rate in UNCHECKED.items()),
    ),
    claims=(
        Claim(
            "transactions cost below 50 rows", "single INSERTs, commit each 2", "single INSERTs, commit each", most=1
        ),
        Claim(
            "1,000 rows are the sweet spot: 10,000 gain little",
            "LOAD DATA, bulks of 10,000",
            "LOAD DATA, bulks of 1,000",
            about=22.24 / 21.27,
        ),
        Claim(
            "LOAD DATA saturates at 10,000 rows",
            "LOAD DATA, bulks of 100,000",
            "LOAD DATA, bulks of 10,000",
            about=1.0,
        ),
    ),
    notes=(
        "The article's rates are computed from its percentages, which are relative to single INSERTs.",
        "Each bulk of an import also writes a ledger row, which is noticeable where bulks have 2 rows.",
        "The article turns both checks off and gives no figure. Here only unique_checks is off: the table has no"
        " foreign key, and with both off MariaDB loses rows of an empty table where a key occurs twice.",
    ),
)

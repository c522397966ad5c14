"""(a) Methods compared, and rows per INSERT from 1 to 10,000; with and without a network delay of 10 ms."""

from importer.engine.plan.options import Options
from importer.experiments import raw_statements
from importer.experiments.experiment import Claim, Experiment, ImportAction, RawAction, Way, WayTable
from importer.experiments.workloads import MIXED

DELAY = 0.010  # added round trip in seconds
LOCAL_ROWS = {1: 40_000.0, 2: None, 5: None, 10: None, 40: 0.9 * 247_000, 100: None, 1000: 247_000.0, 10_000: None}
FAR_ROWS = {1: 12_000.0, 10: None, 40: None, 100: None, 1000: 201_000.0, 10_000: None}
FAR_WHY = "the article's round trip was below 0.1 ms, this one is 10 ms"
(_TABLE,) = MIXED.tables
_ONE = (WayTable(_TABLE),)
_COPIED = (WayTable(_TABLE, filled=True), WayTable(_TABLE))
# An import has a ledger, a scan and checks. Plain statements have none, so they are compared with a plain LOAD DATA.
RAW = "LOAD DATA, no import"


def _insert(rows: int, published: float | None) -> Way:
    options = Options(method="insert_prepared", rows_per_statement=rows, parallelism=1)
    name = f"INSERT, {rows:,} {'row' if rows == 1 else 'rows'}"
    return Way(
        name, ImportAction(options), _ONE, rate=min(8000 * rows, 80_000), published=published, most_rows=rows * 40_000
    )


def _far_insert(rows: int, published: float | None) -> Way:
    name = f"INSERT, {rows:,} {'row' if rows == 1 else 'rows'}, 10 ms away"
    do = RawAction(raw_statements.insert(rows, 0), DELAY)
    # Each statement waits for a round trip: 300 statements take 3 seconds.
    return Way(name, do, _ONE, min(90 * rows, 50_000), published, FAR_WHY, most_rows=rows * 300, compared_with=RAW)


METHODS = Experiment(
    name="methods",
    article="High-speed inserts with MySQL",
    asks="which method is fastest, how many rows an INSERT should have, and what network delay changes",
    conditions="MySQL 5.7, Xeon E3 3.8 GHz, 32 GB, NVMe; on the same machine, or over gigabit below 0.1 ms",
    workload=MIXED,
    small_rows=200_000,
    baseline="LOAD DATA",
    ways=(
        Way(
            "LOAD DATA",
            ImportAction(Options(method="load_data_local", parallelism=1)),
            _ONE,
            rate=250_000,
            published=377_000,
        ),
        Way(RAW, RawAction(raw_statements.load), _ONE, 350_000, 377_000),
        Way("INSERT ... SELECT", RawAction(raw_statements.copy), _COPIED, 300_000, 313_000, compared_with=RAW),
        *(_insert(rows, published) for rows, published in LOCAL_ROWS.items()),
        Way(
            "LOAD DATA, 10 ms away",
            RawAction(raw_statements.load, DELAY),
            _ONE,
            150_000,
            322_000,
            FAR_WHY,
            compared_with=RAW,
        ),
        *(_far_insert(rows, published) for rows, published in FAR_ROWS.items()),
    ),
    claims=(
        Claim("40 rows per INSERT reach 90 % of the best", "INSERT, 40 rows", "INSERT, 1,000 rows", about=0.9),
        Claim("the rate falls again after 1,000 rows", "INSERT, 10,000 rows", "INSERT, 1,000 rows", most=1.0),
        Claim("from afar, single INSERTs do at most 1000 / ping(ms) a second", "INSERT, 1 row, 10 ms away", most=100.0),
        Claim("from afar, LOAD DATA costs only the transfer", "LOAD DATA, 10 ms away", RAW, about=322 / 377),
        Claim(
            "from afar, LOAD DATA is ahead of INSERTs of 1,000 rows",
            "LOAD DATA, 10 ms away",
            "INSERT, 1,000 rows, 10 ms away",
            least=1.0,
        ),
    ),
    notes=(
        "LOAD DATA is LOAD DATA LOCAL from this machine; the article's local figure is of LOAD DATA INFILE.",
        "Ways that are 10 ms away send plain statements with literals through a relay; the others are imports.",
        f"Raw ways are compared with {RAW}, imports with LOAD DATA as an import.",
    ),
)

"""(b) The methods of mysqlBulk by the size of bulks, on an indexed table: INSERTs, transactions, LOAD DATA."""

from bench.experiments.experiment import Claim, Experiment, ImportAction, RawAction, Way, WayTable
from bench.experiments.raw import inserts, loads
from bench.workloads import INDEXED
from importer.engine.plan.options import Options

# Rows per second. The article gives percentages: 28,108 rows/s are 2,124 % more than its single INSERTs.
SINGLE = 28_108 / 22.24
(_TABLE,) = INDEXED.tables
_ONE = (WayTable(_TABLE),)
NONE = "single INSERTs, commit each"
# Rows of a bulk, and the most rows that a way with such bulks loads: each bulk costs a commit.
CURVE = {2: 4_000, 5: 6_000, 10: 20_000, 50: 100_000, 100: 200_000, 500: None, 1000: None, 5000: None, 10_000: None,
         50_000: None, 100_000: None}  # fmt: skip
# Approximate rows per second on two cores, by rows per bulk up to which it applies.
LOAD_RATES = {2: 1_500, 10: 6_000, 100: 25_000, 10**6: 65_000}
# The article's rates of its methods, by rows per bulk.
LOADS = {2: SINGLE * 2.53, 1000: SINGLE * 21.27, 10_000: 28_108.0}
TRANSACTIONS = {10_000: 1588.0}
# Single INSERTs: rows, unless a bulk has more.
MOST_SINGLE = 10_000
# mysqlBulk sends a notice for more rows a bulk.
NOTICED = 10_000
LEDGER = "each bulk of an import writes a ledger row as well"
BOTH_OFF = {"unique_checks": 0, "foreign_key_checks": 0}
BULKED = {1000: 60_000, 10_000: 70_000}


def _transaction(rows: int, what: str = "", first: str = "", last: str = "") -> Way:
    do = RawAction(inserts.insert(1, rows, first=[first] * bool(first), last=[last] * bool(last)))
    most = max(rows, min(CURVE[rows] or MOST_SINGLE, MOST_SINGLE))
    rate, published = 900 if rows < 10 else 4_500, None if what else TRANSACTIONS.get(rows)
    return Way(_single(rows) + what, do, _ONE, rate, published, most_rows=most)


def _load(rows: int, *, checks: bool = True) -> Way:
    options = Options(method="load_data_local", commit_rows=rows, parallelism=1, indexes="keep", unique_checks=checks)
    name = _bulks(rows) + ("" if checks else ", no unique checks")
    published = LOADS.get(rows) if checks else None
    why = LEDGER if rows == 2 else ""
    return Way(name, ImportAction(options), _ONE, _load_rate(rows), published, why, most_rows=CURVE[rows])


def _unchecked(rows: int) -> Way:
    do = RawAction(loads.load_in_bulks(rows), session=BOTH_OFF)
    return Way(f"{_bulks(rows)}, both checks off", do, _ONE, _load_rate(rows), compared_with=_raw_bulks(rows))


def _checked(rows: int) -> Way:
    do = RawAction(loads.load_in_bulks(rows))
    return Way(_raw_bulks(rows), do, _ONE, _load_rate(rows), LOADS.get(rows), most_rows=CURVE[rows])


def _marked(rows: int) -> Way:
    do = RawAction(loads.load_in_bulks(rows, loads.MYSQLBULK))
    return Way(MARKED, do, _ONE, _load_rate(rows), compared_with=_raw_bulks(rows))


def _load_rate(rows: int) -> float:
    return next(rate for most, rate in LOAD_RATES.items() if rows <= most)


def _single(rows: int) -> str:
    return f"single INSERTs, commit each {rows:,}"


def _bulks(rows: int) -> str:
    return f"LOAD DATA, bulks of {rows:,}"


def _raw_bulks(rows: int) -> str:
    return f"{_bulks(rows)}, no import"


MARKED = f"{_raw_bulks(10_000)}, ends of mysqlBulk"
PARSED = f"INSERT statements read as rows, {_bulks(10_000)}"

BULKS = Experiment(
    name="bulks",
    article="Improve MySQL Insert Performance (mysqlBulk)",
    by="Kevin van Zonneveld, 2009",
    url="http://kvz.io/blog/2009/03/31/improve-mysql-insert-performance",
    asks="what the methods of mysqlBulk are worth on an indexed table, by the size of bulks",
    conditions="MySQL 5.0.51a, Xeon E5335 2 GHz, 4 GB, four disks in RAID 10; 2 to 100,000 rows a bulk",
    workload=INDEXED,
    small_rows=50_000,
    baseline=NONE,
    ways=(
        Way(NONE, RawAction(inserts.insert(1, 1)), _ONE, 700, SINGLE, most_rows=2_000),
        Way("INSERT DELAYED", RawAction(inserts.insert_delayed), _ONE, 700, most_rows=2_000),
        *(_transaction(rows) for rows in CURVE),
        _transaction(10_000, ", LOCK TABLES", "LOCK TABLES {table} WRITE", "UNLOCK TABLES"),
        _transaction(10_000, ", DISABLE KEYS", "ALTER TABLE {table} DISABLE KEYS", "ALTER TABLE {table} ENABLE KEYS"),
        *(_load(rows) for rows in CURVE),
        *(_load(rows, checks=False) for rows in BULKED),
        _checked(2),
        *(way for rows in BULKED for way in (_checked(rows), _unchecked(rows))),
        _marked(10_000),
        Way(
            PARSED,
            ImportAction(
                Options(method="load_data_local", commit_rows=10_000, parallelism=1, indexes="keep"), sql=True
            ),
            _ONE,
            30_000,
            compared_with=_bulks(10_000),
        ),
    ),
    claims=(
        Claim("a transaction costs more than it gives below 50 rows", _single(2), NONE, most=1, number="b1"),
        Claim("LOAD DATA of bulks of 2 rows does 2.5 times as many", _raw_bulks(2), NONE, about=2.53, number="b2"),
        Claim("nothing is gained beyond bulks of 10,000", _bulks(100_000), _bulks(10_000), about=1.0, number="b3"),
        Claim(
            "1,000 rows are the sweet spot: 10,000 gain little",
            _bulks(10_000),
            _bulks(1000),
            about=22.24 / 21.27,
            number="b4",
        ),
        Claim(
            "INSERT statements as rows are ten times slower than rows", PARSED, _bulks(10_000), about=0.1, number="b5"
        ),
        Claim(
            "INSERT statements as rows are twice as fast as single ones",
            PARSED,
            _single(10_000),
            least=2.0,
            number="b5",
        ),
        Claim(
            "records that end with ^^^ and a line feed, and fields with :::, load as others do",
            MARKED,
            _raw_bulks(10_000),
            about=1.0,
            number="b6",
        ),
        Claim(
            "its lock around the rows is LOCK TABLES ... READ",
            number="b6",
            unmeasured="no server takes rows under a lock to read: the ways with a lock have LOCK TABLES ... WRITE",
        ),
    ),
    notes=(
        "The article's rates are computed from its percentages, which are relative to single INSERTs. Its function"
        " returns rows per second, which is the figure of each way here.",
        "The methods of mysqlBulk and the ways here: none: " + NONE + "; delayed: INSERT DELAYED; transaction,"
        " transaction_lock and transaction_nokeys: single INSERTs with a commit for each bulk, alone, with LOCK TABLES,"
        " and with DISABLE KEYS; loaddata: LOAD DATA; loaddata_unsafe: both checks off; loadsql_unsafe: INSERT"
        " statements read as rows. Its LOCK TABLES ... READ would refuse its own rows, so the lock here is WRITE.",
        f"For more than {NOTICED:,} rows a bulk, mysqlBulk sends the notice that fewer are recommended: such bulks take"
        " memory there, and the claim on saturation shows whether they gain anything.",
        "Each bulk of an import also writes a ledger row, which is noticeable where bulks have 2 rows.",
        "With both checks off, MariaDB loses rows of an empty table where a key occurs twice, so an import refuses"
        " that, and the way is raw. The rows here have no key twice, and the table has no foreign key.",
        "InnoDB has no DISABLE KEYS: the statement is a note there, and the keys stay in place.",
    ),
)

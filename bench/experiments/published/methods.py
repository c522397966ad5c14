"""(a) Methods compared, and rows per INSERT from 1 to 10,000; by socket and TCP, and over simulated networks."""

from bench.experiments import needs
from bench.experiments.experiment import Claim, Experiment, ImportAction, RawAction, Way, WayTable
from bench.experiments.raw import copies, inserts, loads
from bench.relay import Link
from bench.workloads import MIXED
from importer.engine.plan.options import Options

FAR, GIGABIT = Link(0.010), Link(0.0001, 1e9 / 8)
LOCAL_ROWS = {1: 40_000.0, 2: None, 5: None, 10: None, 40: 0.9 * 247_000, 100: None, 1000: 247_000.0, 10_000: None}
LITERAL_ROWS = (1, 40, 1000)
# The article's figures of its network, by rows per INSERT. The same ones are shown, but not compared, from 10 ms away.
NETWORK_ROWS = {1: 12_000.0, 1000: 201_000.0}
FAR_ROWS = (1, 10, 40, 100, 1000, 10_000)
FAR_WHY = "the article's round trip was below 0.1 ms, this one is 10 ms"
(_TABLE,) = MIXED.tables
_ONE = (WayTable(_TABLE),)
_COPIED = (WayTable(_TABLE, filled=True), WayTable(_TABLE))
# An import has a ledger, a scan and checks. Plain statements have none, so they are compared with a plain LOAD DATA.
RAW, SERVER_FILE = "LOAD DATA, no import", "LOAD DATA of a file on the server"
SOCKET, TCP = "LOAD DATA by the Unix socket", "LOAD DATA by TCP"
ONE, ONE_SOCKET, ONE_TCP = "INSERT, 1 row", "INSERT, 1 row, by the Unix socket", "INSERT, 1 row, by TCP"


def _insert(rows: int, published: float | None, method: str = "insert_prepared") -> Way:
    options = Options(method=method, rows_per_statement=rows, parallelism=1)
    rate = min(8000 * rows, 80_000)
    name = _name(rows) + (", literals" if method == "insert" else "")
    return Way(name, ImportAction(options), _ONE, rate, published, most_rows=rows * 40_000)


def _commit_each(rows: int) -> Way:
    return _raw(rows, "a commit each", 1, min(700 * rows, 50_000), rows * 2_000, f"{_name(rows)}, one transaction")


def _one_transaction(rows: int) -> Way:
    return _raw(rows, "one transaction", 0, min(8000 * rows, 80_000), rows * 20_000, RAW)


def _raw(rows: int, what: str, commit_every: int, rate: float, most: int, compared_with: str) -> Way:
    do = RawAction(inserts.insert(rows, commit_every))
    return Way(f"{_name(rows)}, {what}", do, _ONE, rate, most_rows=most, compared_with=compared_with)


def _insert_over(link: Link, where: str, rows: int, why: str, rate: float) -> Way:
    # Each statement waits for a round trip: 300 statements take 3 seconds where it is 10 ms.
    most = rows * (300 if link is FAR else 10_000)
    do = RawAction(inserts.insert(rows, 0), link=link)
    name = f"{_name(rows)}, {where}"
    return Way(name, do, _ONE, rate, NETWORK_ROWS.get(rows), why, most_rows=most, compared_with=RAW)


def _load(name: str, do: RawAction, published: float | None, why: str = "", *, server_file: bool = False) -> Way:
    return Way(name, do, _ONE, 250_000, published, why, server_file=server_file, compared_with=RAW)


def _name(rows: int) -> str:
    return f"INSERT, {rows:,} {'row' if rows == 1 else 'rows'}"


LOCAL = ImportAction(Options(method="load_data_local", parallelism=1))
FROM_FILE = ImportAction(Options(method="load_data_infile", parallelism=1))

METHODS = Experiment(
    name="methods",
    article="High-speed inserts with MySQL",
    by="Benjamin Morel, 2017",
    url="https://medium.com/@benmorel/high-speed-inserts-with-mysql-9d3dcd76f723",
    asks="which method is fastest, how many rows an INSERT should have, and what network delay changes",
    conditions="MySQL 5.7, Xeon E3 3.8 GHz, 32 GB, NVMe; on the same machine, or over gigabit below 0.1 ms",
    workload=MIXED,
    small_rows=200_000,
    baseline="LOAD DATA",
    ways=(
        Way("LOAD DATA", LOCAL, _ONE, 250_000, 377_000),
        Way(f"{SERVER_FILE}, import", FROM_FILE, _ONE, 250_000, 377_000, server_file=True),
        Way(RAW, RawAction(loads.load), _ONE, 350_000, 377_000),
        _load(SERVER_FILE, RawAction(loads.load_server_file), 377_000, server_file=True),
        _load(SOCKET, RawAction(loads.load, route="socket"), None),
        _load(TCP, RawAction(loads.load, route="tcp"), None),
        Way("INSERT ... SELECT", RawAction(copies.copy), _COPIED, 300_000, 313_000, compared_with=RAW),
        *(_insert(rows, published) for rows, published in LOCAL_ROWS.items()),
        *(_insert(rows, LOCAL_ROWS[rows], "insert") for rows in LITERAL_ROWS),
        *(way for rows in LITERAL_ROWS for way in (_one_transaction(rows), _commit_each(rows))),
        Way(ONE_SOCKET, RawAction(inserts.insert(1, 0), route="socket"), _ONE, 8_000, most_rows=20_000,
            compared_with=ONE_TCP),
        Way(ONE_TCP, RawAction(inserts.insert(1, 0), route="tcp"), _ONE, 8_000, most_rows=20_000, compared_with=RAW),
        _load("LOAD DATA, over gigabit", RawAction(loads.load, link=GIGABIT), 322_000),
        *(_insert_over(GIGABIT, "over gigabit", rows, "", min(3_000 * rows, 60_000)) for rows in NETWORK_ROWS),
        _load("LOAD DATA, 10 ms away", RawAction(loads.load, link=FAR), 322_000, FAR_WHY),
        *(_insert_over(FAR, "10 ms away", rows, FAR_WHY, min(90 * rows, 50_000)) for rows in FAR_ROWS),
    ),
    claims=(
        Claim("LOAD DATA on the server beats INSERT ... SELECT of the same rows", SERVER_FILE, "INSERT ... SELECT",
              least=1.0, number="a1"),
        Claim("LOCAL costs only the transfer", RAW, SERVER_FILE, about=322 / 377, number="a2"),
        Claim("over gigabit, LOAD DATA loses a seventh", "LOAD DATA, over gigabit", RAW, about=322 / 377, number="a2",
              needs=(needs.GIGABIT_RATE,),
              because="one statement waits for few round trips, so the rate counts and not the round trip"),
        Claim("INSERTs of many rows reach 65 % of LOAD DATA", "INSERT, 1,000 rows", "LOAD DATA", about=247 / 377,
              number="a3"),
        Claim("INSERTs of many rows do 6 times as many as single ones", f"{_name(1000)}, one transaction",
              f"{ONE}, one transaction", about=247 / 40, number="a4"),
        Claim("over gigabit, INSERTs of many rows do 17 times as many as single ones", f"{_name(1000)}, over gigabit",
              f"{ONE}, over gigabit", about=201 / 12, number="a4", needs=(needs.GIGABIT,)),
        Claim("40 rows per INSERT reach 90 % of the best", "INSERT, 40 rows", "INSERT, 1,000 rows", about=0.9,
              number="a5"),
        Claim("the rate falls again after 1,000 rows", "INSERT, 10,000 rows", "INSERT, 1,000 rows", most=1.0,
              number="a5"),
        Claim("many rows an INSERT pay on this machine", f"{_name(1000)}, one transaction", f"{ONE}, one transaction",
              least=1.0, number="a6"),
        Claim("many rows an INSERT pay over gigabit", f"{_name(1000)}, over gigabit", f"{ONE}, over gigabit", least=1.0,
              number="a6", because="they pay with a longer round trip and with none, so also with the article's"),
        Claim("over gigabit, single INSERTs are less than a third", f"{ONE}, over gigabit", f"{ONE}, one transaction",
              about=12 / 40, needs=(needs.GIGABIT,)),
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
        "The file on the server is a copy in a folder that the server reads, made before the clock starts.",
        "INSERTs are prepared statements in imports, as in the article, literals where the name says so. Raw ways send"
        " literals.",
        "The networks are a relay on this machine: over gigabit, 0.1 ms and 1 Gbit/s; or 10 ms. The relay takes"
        " processor time, and may delay longer than the network would. Links, where the report has them, are what was"
        " measured of it; without them it took about 3 ms.",
        f"Raw ways are compared with {RAW}, imports with LOAD DATA as an import; a commit each with one transaction,"
        " and the Unix socket with TCP, where both are single INSERTs.",
    ),
)  # fmt: skip

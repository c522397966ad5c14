"""(d) One to 16 hash partitions, loaded by one to 8 sessions; pool instances; what partitions cost a SELECT."""

from bench.experiments import needs
from bench.experiments.experiment import Claim, Experiment, ImportAction, RawAction, Way, WayTable
from bench.experiments.raw import inserts, loads, single_rows
from bench.experiments.raw.target import Run
from bench.experiments.variants import POOL, ServerVariant
from bench.workloads import partitioned
from importer.engine.plan.options import Options
from importer.engine.units import GIB

# Loaded by these numbers of sessions, by partitions.
SESSIONS = {1: (1, 2, 4, 8), 2: (1, 8), 4: (1, 8), 8: (1, 2, 4, 8), 16: (1, 8)}
READ_PARTITIONS = (1, 8, 16)
MOST_READ = 1_000_000  # rows of the tables that are read
MOST_SINGLE = 50_000  # rows by single INSERTs
NO_IMPORT, SINGLE = "LOAD DATA, 1 session, no import", "single INSERTs, 1 session"
_WORKLOADS = {count: partitioned(count) for count in SESSIONS}
# MySQL has one instance where the pool is smaller than 1 GiB (manual, innodb_buffer_pool_instances).
_POOL = ServerVariant({POOL: 2 * GIB}, "MariaDB has a single instance since 10.5.")
BY_KEY = "SELECT * FROM {table} WHERE id = {number}"
BY_K = "SELECT * FROM {table} WHERE k = {number}"


def _partitions(count: int) -> str:
    return f"{count} partition{'s' * (count > 1)}"


def _name(partitions: int, sessions: int) -> str:
    return f"{_partitions(partitions)}, {sessions} session{'s' * (sessions > 1)}"


def _way(partitions: int, sessions: int) -> Way:
    options = Options(method="load_data_local", parallelism=sessions, indexes="keep")
    return Way(_name(partitions, sessions), ImportAction(options), _table(partitions), 130_000)


def _plain(name: str, run: Run, rate: float, most: int | None = None) -> Way:
    return Way(name, RawAction(run), _table(1), rate, most_rows=most, compared_with=NO_IMPORT)


def _instances(partitions: int, count: int) -> Way:
    do = RawAction(loads.load_in_parallel(8), server=_POOL.and_also({"innodb_buffer_pool_instances": count}))
    name = _of_instances(partitions, count)
    return Way(name, do, _table(partitions), 130_000, compared_with=_of_instances(1, 1))


def _of_instances(partitions: int, count: int) -> str:
    return f"own server, {_name(partitions, 8)}, {count} pool instance{'s' * (count > 1)}"


def _read(what: str, sql: str, partitions: int) -> Way:
    do = RawAction(single_rows.single_row_statements(sql))
    return _reading(what, do, partitions, 2_000, single_rows.POINT_SECONDS, what.replace("read", "reads"))


def _scan(partitions: int) -> Way:
    do = RawAction(single_rows.whole_table("SELECT SUM(LENGTH(pad)) FROM {table}"))
    return _reading("scan", do, partitions, 2_000_000, 60, "rows scanned")


def _reading(what: str, do: RawAction, partitions: int, rate: float, seconds: float, counts: str) -> Way:
    table, base = _table(partitions, filled=True), f"{what}, {_partitions(1)}"
    name = f"{what}, {_partitions(partitions)}"
    return Way(name, do, table, rate, most_rows=MOST_READ, most_seconds=seconds, compared_with=base, counts=counts)


def _table(partitions: int, *, filled: bool = False) -> tuple[WayTable, ...]:
    return (WayTable(_WORKLOADS[partitions].tables[0], filled=filled),)


PARTITIONED = Experiment(
    name="partitions",
    article="High Rate insertion with MySQL and Innodb",
    by="Percona's blog, 2011",
    url="https://www.percona.com/blog/2011/01/07/high-rate-insertion-with-mysql-and-innodb/",
    asks="whether hash partitions let more sessions load in parallel, and what they cost",
    conditions="MySQL 5.5.8, eight-core Opteron, data in memory: 275,000 rows/s at best, from 8 sessions",
    workload=_WORKLOADS[1],
    small_rows=300_000,
    baseline=_name(1, 1),
    ways=(
        *(_way(partitions, count) for partitions, sessions in SESSIONS.items() for count in sessions),
        _plain(NO_IMPORT, loads.load, 130_000),
        _plain(SINGLE, inserts.insert(1, 0), 7_000, MOST_SINGLE),
        *(_instances(partitions, count) for partitions in (1, 8) for count in (1, 8)),
        *(_read("read by the primary key", BY_KEY, count) for count in READ_PARTITIONS),
        *(_read("read by another key", BY_K, count) for count in READ_PARTITIONS),
        *(_scan(count) for count in READ_PARTITIONS),
    ),
    claims=(
        Claim("8 partitions more than double the rate of 8 sessions", _name(8, 8), _name(1, 8), least=2.0, number="d1",
              needs=(needs.INDEX_LOCK, needs.cores(8))),
        Claim("with partitions, 8 sessions are ahead of one", _name(8, 8), _name(8, 1), least=1.0,
              needs=(needs.cores(8),)),
        Claim(
            "the same with 8 pool instances, as the article had", _of_instances(8, 8), _of_instances(1, 8), least=2.0,
            number="d1", needs=(needs.INDEX_LOCK, needs.cores(8)),
        ),
        Claim("8 instances of the buffer pool matter", _of_instances(8, 8), _of_instances(8, 1), least=1.15,
              number="d2", needs=(needs.cores(8),)),
        Claim("single INSERTs are much slower: at most half the rate", SINGLE, NO_IMPORT, most=0.5, number="d3"),
        Claim("sessions wait for each other 40 % of the processor's time in 5.1, 15 % in 5.5", number="d4",
              unmeasured="servers of today count no such waits: a profile of the server would show them"),
    ),
    notes=(
        "The article gives one rate only, of 8 sessions; the other ratios are this server's.",
        "MySQL 5.5 had one lock for each index; later versions do not (manual, InnoDB index locking).",
        "Ways on an own server run on a private server with a buffer pool of 2 GiB, by plain LOAD DATA.",
        f"Reads are of a table with {MOST_READ:,} rows at most: single ones by the primary key, which the server finds"
        " in one partition, and by another key, which it looks up in every partition; and scans, in rows per second.",
    ),
)  # fmt: skip

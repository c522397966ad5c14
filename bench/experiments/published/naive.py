"""(c) From naive to parallel: single rows, LOAD DATA, engines, sessions; and settings of private servers."""

from dataclasses import replace

from bench.experiments import needs
from bench.experiments.experiment import Claim, Experiment, ImportAction, RawAction, Way, WayTable
from bench.experiments.raw import inserts, loads
from bench.experiments.raw.target import Run
from bench.experiments.variants import POOL, REDO, ServerVariant
from bench.workloads import NODES
from bench.workloads.table import MYISAM, TableForm
from importer.engine.plan.options import Options
from importer.engine.units import GIB, MIB

ROWS = NODES.full_rows
(_TABLE,) = NODES.tables
_ONE = (WayTable(_TABLE),)
TUNED = "the article's server had a larger log and buffer pool for it, and no doublewrite"
SMALLER = "the buffer pool here is at most a quarter of this machine's memory, and the article's disk was magnetic"
FRACTION = 100  # a server with a part of the article's log and pool, for that part of its rows
MOST_MEMORY = 50_000  # rows; a MEMORY table takes 1.1 KB for each, because its VARCHARs have their full width

# The servers of the article: a large log and buffer pool; the same without doublewrite; and the largest ones.
DEFAULTS = ServerVariant()
LARGE = ServerVariant({REDO: 2 * GIB, POOL: 8 * GIB})
UNSAFE = LARGE.and_also({"innodb_doublewrite": 0})
LARGEST = UNSAFE.and_also({REDO: 5 * GIB, POOL: 20 * GIB})
SCALED = ServerVariant({REDO: 2 * GIB // FRACTION // MIB * MIB, POOL: 8 * GIB // FRACTION // MIB * MIB})
PLAIN, PLAIN_LARGE = "own server, defaults", "own server, log 2 G, pool 8 G"
WITHOUT_DOUBLEWRITE = f"{PLAIN_LARGE}, no doublewrite"
WITHOUT_CHECKSUMS = f"{PLAIN_LARGE}, no checksums"
WITH_SCHEMA, WITHOUT_SCHEMA = "own server, performance_schema on", "own server, performance_schema off"
SMALL_KEYS, LARGE_KEYS = "own server, MyISAM, key_buffer_size 8 M", "own server, MyISAM, key_buffer_size 256 M"
FLUSHED = "own server, MyISAM, performance_schema off"
SCALED_DOWN = "own server, a hundredth of log 2 G and pool 8 G"
SCALED_UNSAFE, SCALED_UNCHECKED = f"{SCALED_DOWN}, no doublewrite", f"{SCALED_DOWN}, no checksums"
NO_IMPORT, CONVERTED = "LOAD DATA, no import", "MyISAM, then to InnoDB"
NO_CHECKSUMS = "MariaDB has no algorithm none since 10.6: all pages have checksums."
NO_XA = "It is gone since MySQL 8.0 and MariaDB 10.3: two-phase commit is always on."


def _sessions(count: int, seconds: float) -> Way:
    do = ImportAction(Options(method="load_data_local", parallelism=count))
    return Way(f"LOAD DATA, {count} sessions", do, _ONE, 350_000, ROWS / seconds, TUNED)


def _own(name: str, server: ServerVariant, seconds: float | None, *, sessions: int = 1, to: str = PLAIN) -> Way:
    run = loads.load if sessions == 1 else loads.load_in_parallel(sessions)
    published = ROWS / seconds if seconds else None
    return Way(name, RawAction(run, server=server), _ONE, 250_000, published, compared_with=to)


def _scaled(name: str, server: ServerVariant) -> Way:
    return replace(_own(name, server, None, to=SCALED_DOWN), most_rows=ROWS // FRACTION)


def _into_myisam(rows: int, most: int | None) -> Way:
    name = f"{'single INSERTs' if rows == 1 else f'{rows} rows an INSERT'} into MyISAM"
    rate = 7_000 if rows == 1 else 70_000
    return replace(_raw(name, MYISAM, inserts.insert(rows, 0), most=most), rate=rate)


def _own_myisam(name: str, seconds: float | None, **variables: int) -> Way:
    do = RawAction(loads.load_then("FLUSH TABLES {table}"), server=DEFAULTS.and_also(variables))
    return Way(name, do, (WayTable(_TABLE, MYISAM),), 300_000, ROWS / seconds if seconds else None, compared_with=PLAIN)


def _parallel(sessions: int, server: ServerVariant, seconds: float | None, words: str) -> Way:
    name = f"{words}, {sessions} session{'s' * (sessions > 1)}"
    return _own(name, server, seconds, sessions=sessions, to=f"{words}, 1 session" if sessions > 1 else PLAIN)


def _raw(name: str, form: TableForm, run: Run = loads.load, seconds: int = 0, most: int | None = None) -> Way:
    table, published = (WayTable(_TABLE, form),), ROWS / seconds if seconds else None
    return Way(name, RawAction(run), table, 350_000, published, most_rows=most, compared_with=NO_IMPORT)


UNSAFE_WORDS, LARGEST_WORDS = "own server, no doublewrite", "own server, log 5 G, pool 20 G, no doublewrite"

ON_TARGET = (
    Way("single INSERTs", ImportAction(Options(method="insert", rows_per_statement=1, parallelism=1)), _ONE, 7_000,
        ROWS / 6940, most_rows=50_000),
    Way("single INSERTs, commit each", RawAction(inserts.insert(1, 1)), _ONE, 700, 111_533 / 8340, most_rows=2_000),
    Way("100 rows an INSERT", ImportAction(Options(method="insert", rows_per_statement=100, parallelism=1)), _ONE,
        70_000, ROWS / 6940 * 3),
    Way("LOAD DATA", ImportAction(Options(method="load_data_local", parallelism=1)), _ONE, 250_000, ROWS / 1008),
    Way("LOAD DATA into MyISAM", ImportAction(Options(method="load_data_local", mode="replace")),
        (WayTable(_TABLE, MYISAM),), 250_000, ROWS / 160),
    _sessions(4, 246),
    _sessions(8, 244),
    Way(NO_IMPORT, RawAction(loads.load), _ONE, 350_000, ROWS / 1008),
    _raw("MyISAM", MYISAM),
    _raw(CONVERTED, MYISAM, loads.load_then("ALTER TABLE {table} ENGINE=InnoDB"), 1600),
    _into_myisam(1, 20_000),
    _into_myisam(100, None),
    _raw("MyISAM, FIXED rows", TableForm("MyISAM", row_format="FIXED")),
    _raw("MEMORY", TableForm("MEMORY"), most=MOST_MEMORY),
    _raw("CSV", TableForm("CSV", primary_key=False)),
)  # fmt: skip
ON_OWN_SERVER = (
    _own(PLAIN, DEFAULTS, 1008),
    _own(PLAIN_LARGE, LARGE, 851),
    _own("own server, pool 8 G", DEFAULTS.and_also({POOL: 8 * GIB}), None),
    _own("own server, log 2 G", DEFAULTS.and_also({REDO: 2 * GIB}), None),
    _own(WITHOUT_DOUBLEWRITE, UNSAFE, None, to=PLAIN_LARGE),
    _own(WITHOUT_CHECKSUMS, LARGE.and_also({"innodb_checksum_algorithm": "none"}, NO_CHECKSUMS), None, to=PLAIN_LARGE),
    _scaled(SCALED_DOWN, SCALED),
    _scaled(SCALED_UNSAFE, SCALED.and_also({"innodb_doublewrite": 0})),
    _scaled(SCALED_UNCHECKED, SCALED.and_also({"innodb_checksum_algorithm": "none"}, NO_CHECKSUMS)),
    _own(WITH_SCHEMA, DEFAULTS.and_also({"performance_schema": 1}), None),
    _own(WITHOUT_SCHEMA, DEFAULTS.and_also({"performance_schema": 0}), None, to=WITH_SCHEMA),
    _own("own server, innodb_support_xa off", DEFAULTS.and_also({"innodb_support_xa": 0}, NO_XA), None),
    _own_myisam(SMALL_KEYS, None, key_buffer_size=8 * MIB),
    _own_myisam(LARGE_KEYS, None, key_buffer_size=256 * MIB),
    _own_myisam(FLUSHED, 160, performance_schema=0),
    *(_parallel(count, UNSAFE, seconds, UNSAFE_WORDS) for count, seconds in ((1, 468), (4, None), (8, 290))),
    *(_parallel(count, LARGEST, seconds, LARGEST_WORDS) for count, seconds in ((1, None), (4, 246), (8, 244))),
)

NAIVE = Experiment(
    name="naive",
    article="Testing the Fastest Way to Import a Table into MySQL",
    by="Jaime Crespo, 2014",
    url="https://jynus.com/dbahire/"
    "testing-the-fastest-way-to-import-a-table-into-mysql-and-some-interesting-5-7-performance-results/",
    asks="what each step from single INSERTs to parallel LOAD DATA is worth, and which settings of the server help",
    conditions="MySQL 5.7 (of 5.1 to 5.7), four cores with hyper-threading, magnetic disk",
    workload=NODES,
    small_rows=200_000,
    baseline="single INSERTs",
    ways=(*ON_TARGET, *ON_OWN_SERVER),
    claims=(
        Claim("a commit for each row never ends: 13 rows a second", "single INSERTs, commit each", "single INSERTs",
              111_533 / 8340 / (ROWS / 6940), number="c1", needs=(needs.MAGNETIC,)),
        Claim("a commit for each row takes longer than one at the end", "single INSERTs, commit each", "single INSERTs",
              most=1.0, number="c1",
              because="each commit waits for the disk, whichever it is; how long is the disk's"),
        Claim("100 rows an INSERT are 171 to 229 % faster than single rows", "100 rows an INSERT", "single INSERTs",
              least=2.71, most=3.29, number="c2"),
        Claim("into MyISAM they are 262 to 284 % faster", "100 rows an INSERT into MyISAM",
              "single INSERTs into MyISAM", least=3.62, most=3.84, number="c2"),
        Claim("LOAD DATA beats all INSERTs", "LOAD DATA", "100 rows an INSERT", least=1.0, number="c3"),
        Claim("LOAD DATA takes a seventh of the time of single INSERTs", "LOAD DATA", "single INSERTs", 6940 / 1008,
              number="c3"),
        Claim("MyISAM, then converted, is never faster", CONVERTED, NO_IMPORT, most=1.0, number="c4"),
        Claim("doublewrite costs 15 to 30 %", SCALED_UNSAFE, SCALED_DOWN, least=1.15, number="c5",
              needs=(needs.MAGNETIC,)),
        Claim("checksums cost nothing measurable", SCALED_UNCHECKED, SCALED_DOWN, 1.0, number="c6"),
        Claim("performance_schema costs nothing measurable", WITHOUT_SCHEMA, WITH_SCHEMA, 1.0, number="c6"),
        Claim("8 sessions on 4 cores take about a third off", f"{UNSAFE_WORDS}, 8 sessions",
              f"{UNSAFE_WORDS}, 1 session", 468 / 290, number="c7", needs=(needs.cores(4),)),
        Claim("8 sessions are ahead of one", f"{UNSAFE_WORDS}, 8 sessions", f"{UNSAFE_WORDS}, 1 session", least=1.0,
              number="c7", needs=(needs.cores(2),), because="how far ahead they are is the cores'"),
        Claim("log 5 G and pool 20 G are ahead of 2 G and 8 G", f"{LARGEST_WORDS}, 8 sessions",
              f"{UNSAFE_WORDS}, 8 sessions", 290 / 244, number="c8", needs=(needs.pool(20), needs.cores(4))),
        Claim("a larger key buffer slows MyISAM since 5.5", LARGE_KEYS, SMALL_KEYS, most=1.0, number="c9",
              needs=(needs.rows(25_000_000, "an index larger than both buffers"),)),
        Claim("eight sessions against one, on its tuned server", "LOAD DATA, 8 sessions", "LOAD DATA", 468 / 290),
        Claim("four sessions do what eight do", "LOAD DATA, 4 sessions", "LOAD DATA, 8 sessions", 244 / 246,
              needs=(needs.cores(4),)),
        Claim("a log of 2 G and a pool of 8 G take a sixth off", PLAIN_LARGE, PLAIN, 1008 / 851,
              needs=(needs.pool(8),)),
        Claim("MyISAM takes a sixth of InnoDB's time", FLUSHED, PLAIN, 1008 / 160, needs=(needs.MAGNETIC,)),
        Claim("4 sessions do what 8 do, with log 5 G and pool 20 G", f"{LARGEST_WORDS}, 4 sessions",
              f"{LARGEST_WORDS}, 8 sessions", 244 / 246, needs=(needs.pool(20), needs.cores(4))),
    ),
    notes=(
        "In the article 100 rows an INSERT were 171 to 229 % faster than single rows; three times is used here.",
        "MyISAM is loaded by mode replace. The time includes the swap of the staging table at the end.",
        "Ways on an own server run on a private server, one LOAD DATA for each session with its part of the file, which"
        " the article had cut by hand. " + SMALLER[0].upper() + SMALLER[1:] + ".",
        f"A hundredth of a server has {FRACTION} times less log and pool than the article's, for {FRACTION} times fewer"
        " rows: it writes pages during the load as the article's did, which doublewrite and checksums need to count.",
        f"A MEMORY table has {MOST_MEMORY:,} rows at most, and is gone with the server. A CSV table has no keys."
        " On the target, tables without transactions end with the statement; on an own server, with FLUSH TABLES."
        " Neither takes part in a transaction; what they show is the server's own limit.",
    ),
)  # fmt: skip

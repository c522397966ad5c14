"""(e) Batches, copies of tables, keys before or after, a blob, single rows; and a tuned server."""

from dataclasses import replace

from bench.experiments import needs
from bench.experiments.experiment import Claim, Experiment, ImportAction, RawAction, Way, WayTable
from bench.experiments.raw import copies, inserts, single_rows
from bench.experiments.variants import POOL, REDO, ServerVariant
from bench.workloads import WORKLOADS
from bench.workloads.table import WITHOUT_KEYS, WorkloadTable
from importer.engine.plan.options import Options
from importer.engine.units import GIB, MIB

_WORKLOAD = WORKLOADS["events-linked"]
_EVENT, _SITTING, _REGISTRANT = _WORKLOAD.tables
_PARENT = WayTable(_EVENT, filled=True)
_SOURCE = WayTable(_SITTING, form=WITHOUT_KEYS, filled=True)
_EMPTY = WayTable(_SITTING, form=WITHOUT_KEYS)
_INDEXED = WayTable(replace(_SITTING, references=()), filled=True)
_BOTH = (*_SITTING.keys, *_SITTING.references)
# Rows of the article's second table.
ROWS = 15_000_000
DISK = "the article's time depends on its hard disk"
SCAN = "the time to read a whole table grows with its rows, of which the article had 30 million"
TUNED = "the article's server had doublewrite off, no flush at commit, a larger log and buffer pool for it"
IN_PLACE, AFTERWARDS = "table copy, index and foreign key in place", "table copy, then index and foreign key"
UNCHECKED = f"{IN_PLACE}, checks off"
BOTH_OFF = {"unique_checks": 0, "foreign_key_checks": 0}
DEFAULTS = ServerVariant()
# The article's settings, for the speed of a load that begins again after a crash.
FASTEST = ServerVariant({
    "innodb_doublewrite": 0, "innodb_flush_log_at_trx_commit": 0, "innodb_log_buffer_size": 256 * MIB, REDO: GIB,
    POOL: 128 * GIB, "innodb_write_io_threads": 16,
})  # fmt: skip
KEYED = "rows that got the key"
PLAIN, TUNED_SERVER = "own server, commit each 500", "own server, tuned, commit each 500"
TUNED_UNCHECKED, FORTY_UNCHECKED = f"{TUNED_SERVER}, checks off", "own server, tuned, 40 rows an INSERT, checks off"
BLOB, VARBINARY = "rows with a blob of 1,024 bytes", "rows with a VARBINARY of 1,024 bytes"
ONCE, THRICE = "table copy", "table copy, 3 times the rows"
# Adding a foreign key takes MySQL 9.7 up to 2.8 KB of memory per row, which it does not free (server-behaviour.md):
# 42 GB for ROWS.
MOST_LINKED = 1_000_000


def _inserts(
    name: str,
    table: WorkloadTable,
    options: Options,
    rate: float,
    published: float | None = None,
    not_comparable: str = "",
) -> Way:
    do = ImportAction(replace(options, parallelism=1, indexes="keep"))
    return Way(name, do, (WayTable(table, form=WITHOUT_KEYS),), rate, published, not_comparable, most_rows=50_000)


def _own(
    name: str, rows: int, commit_every: int, server: ServerVariant, published: float | None, *, checks: bool = True
) -> Way:
    session = {} if checks else BOTH_OFF
    do = RawAction(inserts.insert(rows, commit_every), session=session, server=server)
    most = 50_000 if rows == 1 else 400_000
    return Way(name, do, (WayTable(_EVENT),), 7_000 * min(rows, 8), published, most_rows=most, compared_with=PLAIN)


def _as_varbinary(table: WorkloadTable) -> WorkloadTable:
    """The table with VARBINARY in place of BLOB."""
    return replace(
        table, fields=tuple(replace(each, type=each.type.replace("BLOB", "VARBINARY(1024)")) for each in table.fields)
    )


def _single_rows(name: str, sql: str, on: WayTable, published: float, not_comparable: str) -> Way:
    return Way(
        name,
        RawAction(single_rows.single_row_statements(sql)),
        (on,),
        1_000,
        published,
        not_comparable,
        most_seconds=single_rows.POINT_SECONDS,
        counts="single reads" if sql.startswith("SELECT") else "single writes",
    )


_READ = "SELECT * FROM {table} WHERE event_id = {number} DIV 3 + 1"
_INSERT = "INSERT INTO {table} (id, event_id, name) VALUES ({above}, 1, 'One more')"
_BATCH = Options(method="insert", rows_per_statement=1, commit_rows=500)
_FORTY = Options(method="insert", rows_per_statement=40, commit_rows=1000)

RECORDS = Experiment(
    name="records",
    article="Millions of records: batches, settings, keys, blobs",
    by="blog.wumuxian1988.com, 2019",
    url="https://blog.wumuxian1988.com/2019/02/26/MySQL-load-testing",
    asks="what batches and copies are worth, what keys cost before and after the rows, and single rows afterwards",
    conditions="MySQL 5.7.24 in a container, 48 cores, 256 GB, hard disk, latin1",
    workload=_WORKLOAD,
    small_rows=200_000,
    baseline="commit each 500",
    ways=(
        Way("commit each row", RawAction(inserts.insert(1, 1)), (WayTable(_EVENT),), 700, 70, DISK, most_rows=2_000),
        _inserts("commit each 500", _EVENT, _BATCH, 7_000, 15_000),
        _inserts("40 rows an INSERT, commit each 25", _EVENT, _FORTY, 60_000, 190_000, TUNED),
        Way(ONCE, RawAction(copies.copy), (_PARENT, WayTable(_EVENT)), 300_000, 170_000, TUNED),
        Way(THRICE, RawAction(copies.copy), (_SOURCE, _EMPTY), 300_000, 170_000, TUNED),
        Way(IN_PLACE, RawAction(copies.copy), (_PARENT, _SOURCE, WayTable(_SITTING)), 100_000, ROWS / 508, TUNED,
            most_rows=MOST_LINKED),
        Way(UNCHECKED, RawAction(copies.copy, session=BOTH_OFF), (_PARENT, _SOURCE, WayTable(_SITTING)), 100_000,
            most_rows=MOST_LINKED, compared_with=IN_PLACE),
        Way(AFTERWARDS, RawAction(copies.copy_then_add(_BOTH)), (_PARENT, _SOURCE, _EMPTY), 100_000,
            ROWS / (103 + 27 + 129), TUNED, most_rows=MOST_LINKED),
        Way("the index alone", RawAction(copies.add(_SITTING.keys)), (_SOURCE,), 500_000, ROWS / 27, TUNED,
            counts=KEYED),
        Way("the foreign key alone", RawAction(copies.add(_SITTING.references)), (_PARENT, _INDEXED),
            200_000, ROWS / 129, TUNED, most_rows=MOST_LINKED, counts=KEYED),
        _inserts(BLOB, _REGISTRANT, _FORTY, 15_000, ROWS / 950, TUNED),
        _inserts(VARBINARY, _as_varbinary(_REGISTRANT), _FORTY, 15_000, not_comparable=TUNED),
        _own(PLAIN, 1, 500, DEFAULTS, 15_000),
        _own(TUNED_SERVER, 1, 500, FASTEST, None),
        _own(TUNED_UNCHECKED, 1, 500, FASTEST, 70_000, checks=False),
        _own(FORTY_UNCHECKED, 40, 25, FASTEST, 190_000, checks=False),
        _single_rows("reads without an index", _READ, _SOURCE, 1 / 44, SCAN),
        _single_rows("reads with an index", _READ, _INDEXED, 1 / 0.0018, SCAN),
        _single_rows("single INSERTs, indexed", _INSERT, _INDEXED, 1 / 0.029, DISK),
        _single_rows("single UPDATEs, indexed", "UPDATE {table} SET name = 'Another' WHERE id = {number}", _INDEXED,
                1 / 0.029, DISK),
        _single_rows("single DELETEs, indexed", "DELETE FROM {table} WHERE id = {number}", _INDEXED, 1 / 0.029, DISK),
    ),
    claims=(
        Claim("a commit for each row does 70 rows a second", "commit each row", about=70, number="e1",
              needs=(needs.MAGNETIC,)),
        Claim("a commit each 500 rows does 214 times as many", "commit each 500", "commit each row", 15_000 / 70,
              number="e2", needs=(needs.MAGNETIC,)),
        Claim("a commit each 500 rows does more than one for each", "commit each 500", "commit each row", least=1.0,
              number="e2", because="each commit waits for the disk, whichever it is; how many times is the disk's"),
        Claim("a tuned server without checks does 4.7 times as many", TUNED_UNCHECKED, PLAIN, 70 / 15, number="e3",
              needs=(needs.MAGNETIC,)),
        Claim("40 rows an INSERT do 2.7 times as many there", FORTY_UNCHECKED, TUNED_UNCHECKED, 190 / 70, number="e4"),
        Claim("index and foreign key in place take 4.9 times as long (508 s)", THRICE, IN_PLACE, 508 / 103,
              number="e5"),
        Claim("index and foreign key in place take 1.3 times as long (134 s)", THRICE, IN_PLACE, 134 / 103,
              number="e5"),
        Claim("an index is added 3.3 times as fast as rows are copied", "the index alone", ONCE, ROWS / 27 / 170_000,
              number="e6"),
        Claim("a foreign key is dearer than an index", "the foreign key alone", "the index alone", most=1.0,
              number="e7"),
        Claim("a blob of 1,024 bytes slows INSERTs more than tenfold", BLOB, "40 rows an INSERT, commit each 25",
              most=0.1, number="e8"),
        Claim("VARBINARY in its place changes nothing", VARBINARY, BLOB, 1.0, number="e8"),
        Claim("a read by an index takes less than 2 ms", "reads with an index", least=500, number="e9"),
        Claim("an index makes reads faster", "reads with an index", "reads without an index", least=10.0, number="e9"),
        Claim("single INSERTs take ten times as long as reads by an index", "single INSERTs, indexed",
              "reads with an index", about=0.1, number="e10", needs=(needs.MAGNETIC,)),
        Claim("single INSERTs take longer than reads by an index", "single INSERTs, indexed", "reads with an index",
              most=1.0, number="e10", because="a commit waits for the disk, whichever it is, and a read of a page in"
              " memory does not; how many times is the disk's"),
        Claim("40 rows an INSERT do 2.7 times as many rows", "40 rows an INSERT, commit each 25", "commit each 500",
              190 / 70),
        Claim("a table copy is linear: 3 times the rows at the same rate", THRICE, ONCE, 1.0),
        Claim("added afterwards, both take less time than in place (508 s)", AFTERWARDS, IN_PLACE,
              508 / (103 + 27 + 129)),
        Claim("added afterwards, both take more time than in place (134 s)", AFTERWARDS, IN_PLACE,
              134 / (103 + 27 + 129)),
    ),
    notes=(
        "Rates of single rows are statements per second, of at most 1,000 or 5 seconds each, committed one by one.",
        "The article gives two figures for the copy into the table with index and foreign key, 508 s and 134 s, which"
        " contradict each other: by the first, keys belong afterwards, by the second, in place. Both are claims here.",
        "The article's settings of the server are tried on a private server; the target's are left unchanged. With them"
        " a crash loses the commits of the last second: that finish line is the article's, and is not safe.",
        f"Ways with a foreign key, in place or added afterwards, have {MOST_LINKED:,} rows at most: MySQL 9.7 takes up"
        " to 2.8 KB of memory for each row.",
    ),
)  # fmt: skip

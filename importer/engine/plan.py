"""What will be done and why, before anything is touched."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from importer.engine import encodings, modes
from importer.engine.dialect import Dialect
from importer.engine.encodings import Kind
from importer.engine.errors import Problem, TargetProblem
from importer.engine.exactness import Exactness
from importer.engine.mapping import ColumnMapping, Filling, check_mapping
from importer.engine.methods import load_data_local
from importer.engine.numbering import NUMBERS
from importer.engine.options import Options, check_options
from importer.engine.packed import WORDS
from importer.engine.readback import Readback
from importer.engine.server import Server
from importer.engine.staging import NUMBERING, Staged, plan_staging, staging_name
from importer.engine.surroundings import NOTHING_AROUND, Surroundings
from importer.engine.table import Table

MIB = 2**20
# A chunk costs about 15 ms of processor time besides its load: a sixth of what 2 MB take.
SMALLEST_CHUNK = 16 * MIB
LARGEST_CHUNK = 32 * MIB
# Each session gets at least this many chunks, so that a slow one at the end does not leave the others idle.
CHUNKS_PER_SESSION = 4
# Chunks end with a record, before their full size: without this the file's last one would be a crumb.
SLACK = 16 * 1024
REMOTE_PARALLELISM = 4
MOST_PARALLELISM = 64
# Below this the redo log fills within seconds of a load, which then waits for the server to flush pages.
ROOMY_REDO = 1024 * MIB
# Measured: docs/facts.md, Speed.
READ_BACK_COST = "and compared with the file before its chunk is committed; that takes five to six times as long"


@dataclass(frozen=True)
class Reason:
    """One choice and why it was made; `holds_back` marks what on the server keeps the load slower than it could be."""

    choice: str
    why: str
    holds_back: bool = False


@dataclass(frozen=True)
class ImportPlan:
    """How a file goes into a table: everything a worker needs besides the file and the address.

    `table` is what the chunks load into: the target's table, or where the mode stages, the job's staging table.
    """

    method: str
    schema: str
    table: str
    statement: str
    # The same for chunks in which the word NULL occurs; "" where the server makes nothing of it.
    null_word_statement: str
    # The same, slower, for finding out which rows the server means (load_data_local.statement); never with REPLACE.
    traced_statement: str
    chunk_bytes: int
    parallelism: int
    # Table.digest as planned, of a staging table once it is made: a chunk is refused when the table has changed since.
    table_digest: str
    # The columns in the order of the file's fields; "" for a field that is left out.
    fields: tuple[str, ...]
    reasons: tuple[Reason, ...]
    # None where the checks are off (Options.checks).
    exactness: Exactness | None = None
    # Each chunk must be in before the next one starts: which of two rows with one key stays depends on it.
    ordered: bool = False
    # What columns without a field get, besides texts: some of mapping.SOURCES.
    sources: tuple[str, ...] = ()
    # Where the mode stages: how the rows come from `table` into their own.
    staged: Staged | None = None
    # What is read back of each chunk, if all of it is to be compared with the file (Options.verify).
    readback: Readback | None = None

    @property
    def numbers(self) -> tuple[str, ...]:
        """What the feed puts before each record: some of numbering.NUMBERS, in their order."""
        return tuple(name for name in NUMBERS if name in self.sources)

    @property
    def final_table(self) -> str:
        """The table that the rows are for."""
        return self.staged.table if self.staged else self.table

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> "ImportPlan":
        reasons = tuple(Reason(**each) for each in values["reasons"])
        exactness = Exactness.from_json(values["exactness"]) if values["exactness"] else None
        staged = Staged.from_json(values["staged"]) if values["staged"] else None
        lists = {name: tuple(values[name]) for name in ("fields", "sources")}
        readback = Readback.from_json(values["readback"]) if values["readback"] else None
        objects = {"reasons": reasons, "exactness": exactness, "staged": staged, "readback": readback}
        return cls(**{**values, **lists, **objects})


def make_plan(
    data_bytes: int,
    dialect: Dialect,
    table: Table,
    mapping: Sequence[ColumnMapping],
    options: Options,
    server: Server,
    fillings: Sequence[Filling] = (),
    *,
    packing: str = "",
    job: str = "",
    around: Surroundings = NOTHING_AROUND,
    create: str = "",
) -> ImportPlan:
    """Decide how `data_bytes` of records go into the table. Raises Problem with the first thing that forbids it.

    A mode that stages needs the job's key; mode create the statement that makes the staging table, and `table` as it
    will be then.
    """
    check_options(options)
    check_server(server)
    check_table(table)
    check_mapping(mapping, table, fillings)
    columns = [*(each.column for each in mapping if each.column), *(each.column for each in fillings)]
    modes.check_mode(options.mode, options.on_duplicate, table, around, columns)
    staged = _staged(job, options, table, around, columns, create)
    ordered = options.ordered
    parallelism = 1 if ordered else _asked_or_best_parallelism(data_bytes, options, server)
    chunk_bytes = options.chunk_bytes or _chunk_bytes(data_bytes, parallelism)
    return ImportPlan(
        method=options.method,
        schema=table.schema,
        table=staging_name(job) if staged else table.name,
        **_statements(dialect, table, mapping, fillings, options, job),
        chunk_bytes=chunk_bytes,
        parallelism=parallelism,
        table_digest="" if staged else table.digest,
        fields=tuple(each.column for each in mapping),
        reasons=(
            *_reading_reasons(dialect, packing),
            *_reasons(data_bytes, chunk_bytes, parallelism, table, around, options, server),
            *_numbering(fillings),
        ),
        exactness=_exactness(dialect, table, mapping, options, server),
        readback=_readback(_loaded_into(table, options, job), mapping, options),
        ordered=ordered,
        staged=staged,
        sources=tuple(sorted({each.source for each in fillings} - {"text"})),
    )


def _staged(
    job: str, options: Options, table: Table, around: Surroundings, columns: Sequence[str], create: str
) -> Staged | None:
    if not modes.stages(options.mode):
        return None
    return plan_staging(job, options.mode, options.on_duplicate, table, around, columns, create)


def _exactness(
    dialect: Dialect, table: Table, mapping: Sequence[ColumnMapping], options: Options, server: Server
) -> Exactness | None:
    if not options.checks:
        return None
    return Exactness.of(dialect.plain, mapping, table, mariadb=server.mariadb, rounding=options.rounding)


def _loaded_into(table: Table, options: Options, job: str) -> Table:
    return replace(table, name=staging_name(job)) if modes.stages(options.mode) else table


def _readback(table: Table, mapping: Sequence[ColumnMapping], options: Options) -> Readback | None:
    if options.verify != "full":
        return None
    if options.on_duplicate != "fail" or modes.numbers_rows(options.mode, options.on_duplicate):
        raise Problem(
            "Rows that skip, replace or change one another cannot be compared with the file one by one.",
            advice="Verify by counts, or let duplicates fail in mode append, atomic or replace.",
        )
    return Readback.of(table, mapping, options.rounding)


def _statements(
    dialect: Dialect,
    table: Table,
    mapping: Sequence[ColumnMapping],
    fillings: Sequence[Filling],
    options: Options,
    job: str,
) -> dict[str, str]:
    into = _loaded_into(table, options, job)
    also = NUMBERING if modes.numbers_rows(options.mode, options.on_duplicate) else ()

    def statement(**how: bool) -> str:
        return load_data_local.statement(into, dialect, mapping, fillings, also=also, **how)

    # Where records are rewritten, the text NULL goes out in quotes.
    null_word = bool(dialect.quote and not dialect.escape and not dialect.rewriting)
    plain, other = statement(), statement(keep_null_word=True) if null_word else ""
    if options.ordered and options.on_duplicate == "replace":
        plain, other = load_data_local.replacing(plain), other and load_data_local.replacing(other)
    traced = statement(keep_null_word=null_word, traced=True)
    return {"statement": plain, "null_word_statement": other, "traced_statement": traced}


def _numbering(fillings: Sequence[Filling]) -> Iterator[Reason]:
    names = {"row": "record", "line": "line"}
    if numbers := " and ".join(names[each] for each in load_data_local.numbers(fillings)):
        yield Reason(
            f"The {numbers} number is put before each record",
            "a column asks for it; that takes about half a microsecond a row",
            holds_back=True,
        )


def check_server(server: Server) -> None:
    """Raise TargetProblem if the server's settings do not let us load exactly once."""
    if not server.on("local_infile"):
        raise TargetProblem(
            "The server refuses LOAD DATA LOCAL (local_infile is OFF).",
            advice="On the server: SET GLOBAL local_infile = 1, and local_infile = 1 under [mysqld] in its my.cnf.",
        )
    if server.on("wsrep_on") and server.on("wsrep_load_data_splitting"):
        raise TargetProblem(
            "This Galera cluster commits every 10,000 rows of a LOAD DATA, so a chunk could load in part.",
            advice="SET GLOBAL wsrep_load_data_splitting = OFF.",
        )
    if server.on("super_read_only") or server.on("innodb_read_only"):
        raise TargetProblem("The server is read-only.", advice="Load into the primary, not into a replica.")


def check_table(table: Table) -> None:
    """Raise TargetProblem if rows that go into the table could not be rolled back."""
    name = f"{table.schema}.{table.name}"
    if not table.engine:
        raise TargetProblem(f"{name} is a view.", advice="Choose the table behind it.")
    if table.engine.lower() != "innodb":
        raise TargetProblem(
            f"{name} is a {table.engine} table, which cannot roll back: a broken load would leave part of its rows.",
            advice=f"ALTER TABLE {name} ENGINE=InnoDB, or choose another table.",
        )


def _asked_or_best_parallelism(data_bytes: int, options: Options, server: Server) -> int:
    return _within(options.parallelism or _parallelism(data_bytes, options, server), 1, MOST_PARALLELISM)


def _parallelism(data_bytes: int, options: Options, server: Server) -> int:
    if data_bytes <= (options.chunk_bytes or SMALLEST_CHUNK):
        return 1
    return server.cores if server.local else REMOTE_PARALLELISM


def _chunk_bytes(data_bytes: int, parallelism: int) -> int:
    """The data in equal shares, as many for each session, so that all of them end together."""
    about = _within(data_bytes // (parallelism * CHUNKS_PER_SESSION), SMALLEST_CHUNK, LARGEST_CHUNK)
    count = _rounded_up(data_bytes, about * parallelism) * parallelism if data_bytes > about else 1
    return _rounded_up(data_bytes, count) + SLACK


def _rounded_up(value: int, divisor: int) -> int:
    return -(-value // divisor)


def _within(value: int, least: int, most: int) -> int:
    return max(least, min(most, value))


def _reading_reasons(dialect: Dialect, packing: str) -> Iterator[Reason]:
    """How the file's bytes get to the server."""
    yield Reason("LOAD DATA LOCAL", "the server allows it, and nothing else is as fast")
    kind = encodings.kind(dialect.encoding)
    if packing or kind is Kind.OTHER:
        unpacked = [f"it is packed ({WORDS[packing]})"] if packing else []
        decoded = [f"{dialect.encoding} cannot be read in parallel"] if kind is Kind.OTHER else []
        yield Reason("A plain copy is made first", f"{' and '.join(unpacked + decoded)}; it goes when the import ends")
    if kind is Kind.SINGLE:
        # Measured (facts.md, Encodings and packed files).
        why = "on the way to the server, at about 700 MB/s; what is pure ASCII goes as it is"
        yield Reason(f"Transcoded from {dialect.encoding}", why)
    if dialect.rewriting:
        # Measured (facts.md, Reading): at 140 to 300 MB/s, beside a server that takes some 20 MB/s a session.
        cost = "costs up to 10 % of the speed, more where quotes or escapes are unusual"
        yield Reason("Records are rewritten", f"{'; '.join(dialect.rewriting)}; that {cost}", holds_back=True)
    elif kind is not Kind.SINGLE:
        yield Reason("Bytes go as they are", "the server reads this dialect itself")


def _reasons(
    data_bytes: int,
    chunk_bytes: int,
    parallelism: int,
    table: Table,
    around: Surroundings,
    options: Options,
    server: Server,
) -> Iterator[Reason]:
    yield _parallelism_reason(parallelism, options, server)
    count = max(1, _rounded_up(data_bytes, chunk_bytes))
    why = "as asked" if options.chunk_bytes else "small enough to share out and to repeat, large enough to be cheap"
    chunks = "One chunk" if count == 1 else f"About {count:,} chunks"
    size = f"{chunk_bytes / 1e6:.1f} MB" if chunk_bytes >= 100_000 else f"{chunk_bytes / 1e3:.1f} kB"
    yield Reason(f"{chunks} of at most {size}", f"{why}; each is one transaction")
    for told in modes.explained(options.mode, table, around):
        yield Reason(*told)
    if options.verify == "full":
        yield Reason("Every value is read back", READ_BACK_COST, holds_back=True)
    if options.on_error == "reject":
        yield Reason("Rows that cannot go in are left out", f"{_reject_limit(options)}, and kept with their reasons")
    if table.triggers and not modes.stages(options.mode):
        yield Reason(f"Triggers fire: {', '.join(table.triggers)}", "once for each row", holds_back=True)
    yield from _what_holds_back(data_bytes, table, server)


def _reject_limit(options: Options) -> str:
    limits = []
    if options.max_rejects is not None:
        limits.append(f"{options.max_rejects:,}")
    if options.max_reject_percent is not None:
        limits.append(f"{options.max_reject_percent:g} % of the rows")
    return f"at most {' or '.join(limits)}" if limits else "however many"


def _parallelism_reason(parallelism: int, options: Options, server: Server) -> Reason:
    if options.ordered:
        kept = "first" if options.on_duplicate == "skip" else "last"
        return Reason("One chunk after another", f"of rows with one key, the {kept} in the file stays", holds_back=True)
    if options.parallelism:
        why = "as asked"
    elif parallelism == 1:
        why = "the file is one chunk" if server.cores > 1 else "this machine has one processor"
    elif server.local:
        why = f"the server shares this machine's {server.cores} processors"
    else:
        why = "a remote server keeps some sessions busy while others wait for the network"
    return Reason(f"{parallelism} in parallel", f"{why}; can be changed while it runs")


def _what_holds_back(data_bytes: int, table: Table, server: Server) -> Iterator[Reason]:
    numbered = [column.name for column in table.columns if column.auto_increment]
    if numbered and server.number("innodb_autoinc_lock_mode") == 1:
        yield Reason(
            "innodb_autoinc_lock_mode is 1",
            f"loads into a table with AUTO_INCREMENT ({numbered[0]}) then run one at a time;"
            " innodb_autoinc_lock_mode = 2 under [mysqld] in my.cnf, and a restart, let them run side by side",
            holds_back=True,
        )
    redo = server.redo_bytes
    if redo is not None and redo < ROOMY_REDO and redo < data_bytes:
        variable = "innodb_log_file_size" if server.mariadb else "innodb_redo_log_capacity"
        yield Reason(
            f"The redo log holds {redo // MIB:,} MiB",
            f"the load fills it and then waits for pages to be written; SET GLOBAL {variable} = 2147483648 widens it",
            holds_back=True,
        )
    secondary = [key.name for key in table.keys if key.name != "PRIMARY"]
    if secondary and table.rows_estimate == 0:
        keys = "1 secondary key stays" if len(secondary) == 1 else f"{len(secondary)} secondary keys stay"
        yield Reason(f"{keys} on", "each row goes into every key as it is loaded", holds_back=True)

"""Declares each option of an import once: flag, label, help, and its kind with the values that it may have.

The command line, the forms, the history's facts, the lab's grids and the plan's words read these declarations.
docs/settings.md has the measurements; a test compares it with them.
"""

from importer.engine.mysql.variables.session_variables import ISOLATIONS
from importer.engine.plan.guards import DEFAULT_GUARD
from importer.engine.plan.methods import AUTO, METHODS
from importer.engine.plan.option_kinds import (
    Choice,
    Group,
    Number,
    OptionSpec,
    Percent,
    Size,
    Switch,
    Text,
    Variables,
    WordOr,
)
from importer.engine.target.write_modes import DELETE, KEEP, MARK, MODES
from importer.engine.units import MIB

MOST_PARALLELISM, AS_PLANNED = 64, "as planned"
NORMAL, HIGH, LOW = "normal", "high", "low"  # the priorities of an import
REJECT, CREATE = "reject", "create"  # for a name that a lookup does not find
MOST_PARTITIONS = 8192  # the servers' own limit


OPTIONS: tuple[OptionSpec, ...] = (
    OptionSpec(
        "mode",
        Choice(tuple(MODES)),
        "--mode",
        "Mode",
        "What happens to the table and its rows (default: append)",
        group=Group.MODE,
    ),
    OptionSpec(
        "on_error",
        Choice(("stop", "reject")),
        "--on-error",
        "Invalid rows",
        "A row that cannot be loaded stops the import, or is left out and kept in a reject file (default: stop)",
        group=Group.ERRORS,
        answers={"stop": "Stop the import", "reject": "Reject and continue"},
        hints={
            "stop": "The row is named by line, column and reason; nothing of its chunk is kept.",
            "reject": "The other rows load. Rejected rows are kept with their reasons, to fix and load again.",
        },
    ),
    OptionSpec(
        "max_rejects",
        Number(0, 10**12, none=True),
        "--max-rejects",
        "Most rejected rows",
        "With --on-error reject: the largest number of rejected rows; none: any number (default: the larger of 100 rows"
        " and 1 %)",
        group=Group.ERRORS,
        hints={
            "": "If there are more, the import stops. Empty: the larger of 100 rows and 1 %. For no limit, write none."
        },
    ),
    OptionSpec(
        "max_reject_percent",
        Percent(),
        "--max-reject-percent",
        "Most rejected rows, percent",
        "With --on-error reject: the largest share of rejected rows; 100: any number",
        group=Group.ERRORS,
        hints={"": "A share of the file's rows. 100: no limit."},
    ),
    OptionSpec(
        "on_duplicate",
        Choice(("", "fail", "last", "skip", "replace")),
        "--on-duplicate",
        "Duplicate keys",
        "A row whose key exists already cannot be loaded (fail), is skipped, or replaces the existing row; skip and"
        " replace keep the file's order, one chunk after another. With --mode upsert, update or sync, which change rows"
        " that exist: of a key that the file has twice the last row wins (last), or it stops the import (fail; default:"
        " last with these modes, otherwise fail)",
        group=Group.ERRORS,
        answers={
            "": "As the mode has it",
            "fail": "Like an invalid row",
            "last": "The last row wins",
            "skip": "Skip row",
            "replace": "Replace existing row",
        },
        hints={
            "": "Like an invalid row; in modes upsert, update and sync the last row in the file wins.",
            "fail": "The key is in the table or earlier in the file: it stops the import, or is left out, as above. In"
            " modes upsert, update and sync a key that is in the file twice stops the import.",
            "last": "In modes upsert, update and sync: of a key that is in the file twice, the last row counts.",
            "skip": "The existing row stays. Chunks load one after another, in the file's order.",
            "replace": "The last row in the file wins. Chunks load one after another.",
        },
    ),
    OptionSpec(
        "lookup_missing",
        Choice((REJECT, CREATE)),
        "--lookup-missing",
        "Unknown names",
        "A row with a name that the table of a lookup does not have cannot be loaded (reject), or that table gets a row"
        " with the name first (create). Such rows stay, however the import ends, and when it is taken back",
        group=Group.ERRORS,
        answers={REJECT: "Like an invalid row", CREATE: "Add the name to its table"},
        hints={
            REJECT: "Where a column looks names up: the row stops the import, or is left out, as above.",
            CREATE: "Where a column looks names up: their table gets a row with the name, and keeps it.",
        },
    ),
    OptionSpec(
        "key",
        Text(),
        "--key",
        "Key",
        "With --mode update or sync: the unique key by which rows are found, by its name or its columns, such as sku or"
        " shop,sku (default: the primary key, or the only other one that the file fills)",
        group=Group.MODE,
        unset="the primary key, or the only other one",
        hints={"": "The unique key by which rows are found, by its name or its columns: sku, or shop,sku."},
    ),
    OptionSpec(
        "scope",
        Text(longest=1000),
        "--scope",
        "Scope",
        "With --mode sync: a condition on the table's columns, such as 'shop = 3'. Only rows for which it is true can"
        " be changed or deleted, and a row of the file outside it is a bad row (default: all rows)",
        group=Group.MODE,
        unset="all rows",
        hints={"": "The rows that the file is about: shop = 3. No row outside is changed, added or deleted."},
    ),
    OptionSpec(
        "missing",
        WordOr(choices=(DELETE, KEEP), form="mark=COLUMN or mark=COLUMN:VALUE", pattern=MARK),
        "--missing",
        "Missing rows",
        "With --mode sync: rows of the table that the file does not have are deleted (delete) or kept (keep), or get a"
        " value in a column (mark=COLUMN:VALUE): without one the present time in a column of dates, or 1. Rows that"
        " come back get its default (default: delete)",
        group=Group.MODE,
        hints={
            "": "The column gets the value, or the present time or 1, in rows that the file does not have, up to the"
            " limit below; its default in rows that come back.",
            DELETE: "Rows of the table that the file does not have are deleted, up to the limit below. Or: keep, or"
            " mark=COLUMN:VALUE.",
            KEEP: "Rows of the table that the file does not have stay.",
        },
    ),
    OptionSpec(
        "stop_if",
        Text(),
        "--stop-if",
        "Stop if",
        "With --mode update or sync: change nothing if more rows than this would be new, changed or deleted, such as"
        f" 'deleted>5%, changed>1000' (with sync also {DEFAULT_GUARD}, unless deleted rows have another limit)",
        group=Group.MODE,
        unset=f"{DEFAULT_GUARD} in mode sync",
        hints={"": f"Limits for new, changed or deleted rows: deleted>5%, changed>1000. Mode sync: {DEFAULT_GUARD}."},
    ),
    OptionSpec(
        "preview",
        Switch(),
        "--preview",
        "Preview",
        "With --mode update or sync: compare the whole file with the table, show what it would change, and change"
        " nothing (default: no)",
        answers={"yes": "Compare, and change nothing", "no": "Change the table"},
        group=Group.MODE,
    ),
    OptionSpec(
        "undo",
        Choice(("none", "keep")),
        "--undo",
        "Undo",
        "With --mode update, sync, upsert or atomic: keep the rows that change in another table, so that the import can"
        " be taken back; takes more time and room (default: none)",
        answers={"none": "Keep nothing", "keep": "Keep what changes"},
        group=Group.MODE,
        hints={
            "none": "The import cannot be taken back.",
            "keep": "Rows that change are kept in another table, so that one click takes the import back.",
        },
    ),
    OptionSpec(
        "rounding",
        Choice(("notice", "reject")),
        "--rounding",
        "Rounding",
        "A value that would lose digits is loaded and counted, or rejected (default: notice)",
        group=Group.ERRORS,
        answers={"notice": "Round and report", "reject": "Reject row"},
        hints={
            "notice": "1.005 becomes 1.01 in a DECIMAL(8,2); the page tells how many values.",
            "reject": "A row with a value that the column cannot keep exactly is invalid.",
        },
    ),
    OptionSpec(
        "verify",
        Choice(("counts", "full")),
        "--verify",
        "Verification",
        "What is compared with the file: the counts of each chunk at the end, or every value before its chunk is"
        " committed (default: counts)",
        group=Group.VERIFY,
        answers={"counts": "Row counts of every chunk", "full": "Every value"},
        hints={
            "counts": "Compared with the ledger on the server: no row lost, none twice.",
            "full": "Compared before a chunk is committed. Takes up to 1.3 times the processor time.",
        },
    ),
    OptionSpec(
        "time_zone",
        Text(),
        "--time-zone",
        "Time zone",
        "The zone of the times that go into TIMESTAMP columns, such as +02:00, or Europe/Berlin if the server knows it"
        " (default: that of an SQL dump, otherwise the server's own)",
        group=Group.MODE,
        unset="the dump's or the server's own",
        hints={"": "The zone of times for TIMESTAMP columns, such as +02:00, or Europe/Berlin if the server knows it."},
    ),
    OptionSpec(
        "priority",
        Choice((NORMAL, HIGH, LOW)),
        "--priority",
        "Priority",
        "Where imports wait for workers: high goes before the person's other imports, low only loads while no other"
        " import waits (default: normal)",
        group=Group.MODE,
        hints={
            NORMAL: "Workers are shared fairly between people, and between the imports of each.",
            HIGH: "Goes before the other imports of the same person.",
            LOW: "Loads only while no other import waits for the workers.",
        },
    ),
    OptionSpec(
        "once",
        Switch(),
        "--once",
        "Repeated content",
        "Refuse a file whose content an import has already loaded into the table; otherwise a note"
        " names the import (default: no)",
        answers={"yes": "Refuse it", "no": "Load it, with a note"},
        group=Group.MODE,
        hints={
            "yes": "A file is refused if an import has already loaded the same content into the table.",
            "no": "If an import has already loaded the same content into the table, a note names that import.",
        },
    ),
    OptionSpec(
        "method",
        Choice((AUTO, *METHODS)),
        "--method",
        "Method",
        "How rows reach the server. LOAD DATA is the fastest; INSERT is for servers that refuse it",
        answers={"auto": "the planner decides"},
        examples=", ".join(method.name for method in METHODS.values() if method.tunable),
    ),
    OptionSpec(
        "rows_per_statement",
        Number(1, 100_000),
        "--rows-per-statement",
        "Rows per statement",
        "For the INSERT methods: more rows save round trips, up to about 1,000; fewer keep statements small",
        examples="100, 1000",
        unset=AS_PLANNED,
    ),
    OptionSpec(
        "parallelism",
        Number(1, MOST_PARALLELISM),
        "--parallel",
        "Parallel chunks",
        "How many chunks load at the same time. If more than the server has processors, they only wait for each other",
        examples="1, 2, 4",
        unset=AS_PLANNED,
    ),
    OptionSpec(
        "chunk_bytes",
        Size(1, 65_536 * MIB),
        "--chunk-size",
        "Chunk size, MiB",
        "The most bytes of a chunk, which is counted and, if need be, repeated as one; small ones share transactions",
        examples="256K, 1M, 4M",
        unset=AS_PLANNED,
    ),
    OptionSpec(
        "commit_rows",
        Number(1, 1_000_000_000),
        "--commit-rows",
        "Rows per commit",
        "The most rows of a chunk, and so of a transaction; each commit costs one flush of the log",
        examples="1000, 10000",
    ),
    OptionSpec(
        "indexes",
        Choice(("auto", "keep", "defer")),
        "--indexes",
        "Secondary indexes",
        "If deferred, an empty or staged table is loaded without them: faster, but queries lack them until then",
        answers={"auto": "the planner decides", "keep": "keep them on", "defer": "take off, put back after the load"},
        examples="keep, defer",
    ),
    OptionSpec(
        "foreign_keys",
        Choice(("keep", "defer")),
        "--foreign-keys",
        "Foreign keys",
        "If deferred, they are checked all at once when they are put back; before, rows without a parent go in",
        answers={"keep": "keep them on", "defer": "take off, put back after the load"},
        examples="keep, defer",
    ),
    OptionSpec(
        "sort",
        Choice(("auto", "keep", "key")),
        "--sort",
        "Order of the rows",
        "Key order avoids random reads if the table exceeds the buffer pool, but needs a sorted copy of the file",
        answers={"auto": "the planner decides", "keep": "as in the file", "key": "by the primary key"},
        examples="keep, key",
    ),
    OptionSpec(
        "partitions",
        Number(1, MOST_PARTITIONS),
        "--partitions",
        "Hash partitions",
        "How many, by primary key, for a table that mode create makes. They help if many sessions write in parallel",
        examples="none, 4, 8",
    ),
    OptionSpec(
        "partition_by",
        Text(),
        "--partition-by",
        "Partition column",
        "With --partitions: the column by whose hash rows are spread. A primary key must contain it",
        unset="the primary key",
    ),
    OptionSpec(
        "unique_checks",
        Switch(),
        "--unique-checks",
        "Unique keys",
        "If not checked, pages of secondary keys need not be read, but duplicates in them may be stored unnoticed",
        answers={"yes": "checked", "no": "not checked"},
        examples="on, off",
    ),
    OptionSpec(
        "foreign_key_checks",
        Switch(),
        "--foreign-key-checks",
        "Foreign key checks",
        "If off, no parent row is looked up; a row without one is stored, and nothing checks it later",
        answers={"yes": "on", "no": "off"},
        examples="on, off",
    ),
    OptionSpec(
        "isolation",
        Choice(("", *ISOLATIONS)),
        "--isolation",
        "Isolation level",
        "For the loading sessions. REPEATABLE-READ and SERIALIZABLE lock gaps between keys: chunks wait for each other",
        answers={"": "READ-COMMITTED, the default"},
        examples="READ-COMMITTED, REPEATABLE-READ",
    ),
    OptionSpec(
        "lock_table",
        Switch(),
        "--lock-table",
        "Table lock",
        "If locked, nobody else reads or writes the table while a chunk loads, and chunks load one after another",
        answers={"yes": "LOCK TABLES for each chunk", "no": "none: others can use the table"},
    ),
    OptionSpec(
        "session",
        Variables(),
        "--session",
        "Session variables",
        "For the loading sessions only; other sessions are not affected",
    ),
    OptionSpec(
        "server_variables",
        Variables(),
        "--server-variable",
        "Server variables",
        "For the whole server and everybody on it while the import runs; put back when it ends, however it ends",
    ),
)
SPEED = tuple(option for option in OPTIONS if option.group is Group.SPEED)
BY_NAME = {option.name: option for option in OPTIONS}


def named(name: str) -> OptionSpec:
    """The option that declares this field of Options."""
    return BY_NAME[name]

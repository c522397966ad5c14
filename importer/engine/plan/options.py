"""The options of an import, and the checks of their values."""

import math
import re
from dataclasses import dataclass, field, replace

from importer.engine.errors import Problem
from importer.engine.mysql.variables.global_variables import SERVER_VARIABLES
from importer.engine.mysql.variables.session_variables import SESSION_VARIABLES
from importer.engine.mysql.variables.variable import parse_values
from importer.engine.plan.guards import DEFAULT_GUARD, read_guards
from importer.engine.plan.option_specs import CREATE, NORMAL, OPTIONS, REJECT
from importer.engine.target import write_modes
from importer.engine.target.write_modes import DELETE, KEEP

# An offset or a name, as the servers take them (manual, MySQL Server Time Zone Support).
_ZONE = re.compile(r"[+-](?:0?[0-9]|1[0-4]):[0-5][0-9]|[A-Za-z][A-Za-z0-9_+/-]{0,63}")

# The share of rejected rows that is no limit.
ALL_ROWS = 100
# The options that only modes which compare have.
OF_COMPARING = ("key", "scope", "missing", "stop_if", "preview", "undo")
# Those of a table that mode create makes.
OF_CREATING = ("partitions", "partition_by")
DEFAULT_REJECTS, DEFAULT_REJECT_PERCENT = 100, 1
DEFAULT_LIMIT_WORDS = f"{DEFAULT_REJECTS} rows (or {DEFAULT_REJECT_PERCENT} %, if that is more)"


@dataclass(frozen=True)
class Options:
    """The requested settings. None leaves the choice to the planner, or sets no limit. Sizes are bytes.

    `priority` decides which of several imports gets workers first; it changes nothing in the plan. `once` refuses a
    content that an import has loaded into the table already.

    Rows: `on_error` "reject" leaves out the rows that the table refuses, up to `max_rejects` rows and
    `max_reject_percent` of the file's rows; without these numbers, up to the larger of DEFAULT_REJECTS rows and
    DEFAULT_REJECT_PERCENT; with ALL_ROWS percent alone, any number. `on_duplicate` "" is "fail", and "last" in the
    modes that change rows. `lookup_missing` "create" adds a name that a lookup does not find to the table of the names,
    where its row stays. `key` is that by which a mode that compares finds rows, its name or its columns; "" is the
    primary key, or the only other one. `scope` is the condition of the rows that mode sync may touch, "" for all
    (target/scope.py). `missing` "mark=COLUMN" or "mark=COLUMN:VALUE" marks, "keep" leaves the rows that its file does
    not have. `stop_if` are limits (guards.py) beyond which a mode that compares changes nothing; sync has one of
    deleted rows, unless `stop_if` has. `preview` compares, and changes nothing. `undo` "keep" keeps the old rows in
    another table, so that the change can be taken back. `rounding` concerns rows with a number, a time or a text that
    would lose digits or trailing spaces: "notice" loads and counts them, "reject" rejects them.

    `time_zone` is that of the times for TIMESTAMP columns, such as +02:00 or a name; "" is that of an SQL dump,
    otherwise the server's own. `verify` "full" reads every value back and compares it with the file.

    Speed: `method`, and `rows_per_statement` for the INSERT methods. Chunks have at most `chunk_bytes` and
    `commit_rows`; each is one transaction, unless small chunks share one; `parallelism` chunks load in parallel.
    `indexes` "defer" drops the keys of an empty table that refuse no row, and adds them again afterwards;
    `foreign_keys` "defer" does so with foreign keys. `sort` "key" loads a copy sorted by the primary key. `partitions`
    are those of a table that mode create makes, by hash of the column `partition_by`, "" for the primary key.

    Sessions: `unique_checks`, `foreign_key_checks`, `isolation` ("" is READ-COMMITTED), `lock_table` and the variables
    in `session` apply to each loading session. `server_variables` apply to the whole server while the import runs, and
    are then restored.
    """

    mode: str = "append"
    on_error: str = "stop"
    max_rejects: int | None = None
    max_reject_percent: float | None = None
    on_duplicate: str = ""
    lookup_missing: str = REJECT
    key: str = ""
    scope: str = ""
    missing: str = DELETE
    stop_if: str = ""
    preview: bool = False
    undo: str = "none"
    rounding: str = "notice"
    verify: str = "counts"
    time_zone: str = ""
    priority: str = NORMAL
    once: bool = False
    method: str = "auto"
    rows_per_statement: int | None = None
    chunk_bytes: int | None = None
    commit_rows: int | None = None
    parallelism: int | None = None
    indexes: str = "auto"
    foreign_keys: str = "keep"
    sort: str = "auto"
    partitions: int | None = None
    partition_by: str = ""
    unique_checks: bool = True
    foreign_key_checks: bool = True
    isolation: str = ""
    lock_table: bool = False
    session: dict[str, str] = field(default_factory=dict)
    server_variables: dict[str, str] = field(default_factory=dict)

    @property
    def on_clash(self) -> str:
        """What becomes of a row whose key is there, in a mode that does not change that row: fail, skip or replace."""
        return self.on_duplicate if self.on_duplicate in ("skip", "replace") else "fail"

    @property
    def refuses_repeats(self) -> bool:
        """Whether a key that is in the file twice stops an import that changes rows; otherwise the last row wins."""
        return self.mode in write_modes.CHANGING and self.on_duplicate == "fail"

    @property
    def ordered(self) -> bool:
        """Whether chunks must load in the file's order: of two rows with one key, the order decides which stays."""
        return write_modes.loads_in_order(self.mode, self.on_clash)

    @property
    def leaves_out(self) -> bool:
        """Whether rows may be left out. They are then stored as rejects of the import."""
        return self.on_error == "reject" or self.on_clash == "skip"

    @property
    def limits_rejects(self) -> bool:
        """Whether rows are rejected up to a limit."""
        return self.on_error == "reject" and (self.has_stated_limit or self.max_reject_percent is None)

    @property
    def has_stated_limit(self) -> bool:
        """Whether the limit of rejected rows is given as numbers."""
        return self.max_rejects is not None or self.max_reject_percent not in (None, ALL_ROWS)

    @property
    def guards(self) -> str:
        """The limits that hold: those that are asked for, and that of deleted rows unless it is among them."""
        deletes = self.mode == "sync" and self.missing != KEEP
        if deletes and not any(each.count == "deleted" for each in read_guards(self.stop_if)):
            return ", ".join(filter(None, (self.stop_if, DEFAULT_GUARD)))
        return self.stop_if

    def appending(self) -> "Options":
        """The options for adding the rows to the table that is there, without those that only other modes have."""
        others = {"on_duplicate": self.on_duplicate.replace("last", "")} | {
            name: getattr(Options(), name) for name in (*OF_COMPARING, *OF_CREATING)
        }
        return replace(self, mode="append", **others)

    def with_default_limit(self) -> "Options":
        """The options with the default limit of rejected rows, if they have none."""
        return self if self.limits_rejects else replace(self, max_reject_percent=None)

    def without_limit(self) -> "Options":
        """The options without a limit of rejected rows."""
        return replace(self, max_rejects=None, max_reject_percent=ALL_ROWS)

    def most_rejects(self, rows: int) -> int | None:
        """The most rows that an import of this number of `rows` may reject; None if there is no limit."""
        if not self.limits_rejects:
            return None
        stated = [] if self.max_rejects is None else [self.max_rejects]
        if self.max_reject_percent is not None:
            stated.append(math.floor(self.max_reject_percent * rows / 100))
        return min(stated, default=max(DEFAULT_REJECTS, rows * DEFAULT_REJECT_PERCENT // 100))

    @property
    def needs_every_row(self) -> bool:
        """Whether no row of the file can be rejected: what the file lacks is deleted or marked."""
        return self.mode == "sync" and self.missing != KEEP

    @property
    def reject_limit_words(self) -> str:
        """The limit of rejected rows in words; "" if there is none."""
        if not self.limits_rejects:
            return ""
        stated = [] if self.max_rejects is None else [f"{self.max_rejects:,}" if self.max_rejects else "none"]
        if self.max_reject_percent not in (None, ALL_ROWS):
            stated.append(f"{self.max_reject_percent:g} % of the rows")
        return f"at most {' or '.join(stated) or DEFAULT_LIMIT_WORDS}"


def check_options(options: Options) -> None:
    """Raise Problem for a value that an option cannot have, and for options that contradict each other."""
    for spec in OPTIONS:
        value = getattr(options, spec.name)
        if value is not None and not spec.kind.allows(value):
            raise Problem(f"{spec.name} is {value!r}.", advice=f"Give {spec.kind.values}.", option=spec.name)
    if options.time_zone and not _ZONE.fullmatch(options.time_zone):
        raise Problem(
            f"{options.time_zone!r} is not a time zone.",
            advice="Give an offset such as +02:00, or a name such as Europe/Berlin.",
            option="time_zone",
        )
    parse_values(options.session, SESSION_VARIABLES, "The session variable", "session")
    parse_values(options.server_variables, SERVER_VARIABLES, "The server variable", "server_variables")
    for name in OF_CREATING:
        if getattr(options, name) and options.mode != "create":
            raise Problem(
                "Partitions are of a table that the import makes; this one is there, or is made like the one that is.",
                advice="Leave them out, or choose mode create.",
                option=name,
            )
    if options.partition_by and not options.partitions:
        raise Problem(
            f"The table gets no partitions, so none by {options.partition_by}.",
            advice="Say how many it gets, such as --partitions 8.",
            option="partition_by",
        )
    if options.on_duplicate == "last" and options.mode not in write_modes.CHANGING:
        raise Problem(
            f"Mode {options.mode} changes no rows, so the last one of a key cannot win.",
            advice="Ask for on_duplicate fail, skip or replace, or choose mode upsert.",
            option="on_duplicate",
        )
    _check_comparing(options)
    _check_undo(options)
    if options.has_stated_limit and options.on_error != "reject":
        raise Problem(
            "A limit for rejected rows is given, but the import is to stop at the first one.",
            advice="Ask for on_error reject, or give no limit.",
        )


def _check_comparing(options: Options) -> None:
    """Raise Problem for options of the modes that compare, where these contradict the mode or each other."""
    read_guards(options.stop_if)
    if options.stop_if and options.mode not in write_modes.COMPARING:
        raise Problem(
            f"Mode {options.mode} does not compare the file with the table, so nothing stops it at {options.stop_if}.",
            advice=f"Leave stop_if out, or choose mode {' or '.join(write_modes.COMPARING)}.",
            option="stop_if",
        )
    if options.preview and options.mode not in write_modes.COMPARING:
        raise Problem(
            f"Mode {options.mode} does not compare the file with the table.",
            advice="Preview mode update or sync. With sync and --missing keep, it shows what an upsert changes.",
            option="preview",
        )
    if options.preview and options.lookup_missing == CREATE:
        raise Problem(
            "A preview changes nothing, so it adds no names to the table of a lookup.",
            advice="Leave lookup_missing out: the preview then shows the rows with such names as bad rows.",
            option="lookup_missing",
        )
    if options.mode != "sync":
        if options.missing != DELETE:
            raise Problem(
                f"Mode {options.mode} deletes no rows that the file lacks, so there are none to keep or mark.",
                advice="Leave missing out, or choose mode sync.",
                option="missing",
            )
        if options.scope:
            raise Problem(
                f"Mode {options.mode} touches the rows of the file alone, so it has no scope.",
                advice="Leave scope out, or choose mode sync.",
                option="scope",
            )
    elif options.needs_every_row and options.on_error == "reject":
        raise Problem(
            "A rejected row is missing from the file, and mode sync would delete or mark its row of the table.",
            advice="Let bad rows stop the import (on_error stop), or keep what is missing (--missing keep).",
            option="on_error",
        )


def _check_undo(options: Options) -> None:
    """Raise Problem where no old rows can be kept."""
    if options.undo == "none":
        return
    if options.mode not in write_modes.UNDOING:
        raise Problem(
            f"Mode {options.mode} keeps no single rows to take its change back.",
            advice={
                "append": "Choose mode atomic, which stages the rows, and takes"
                f" {write_modes.MERGE_COST} append; or leave undo out.",
                "replace": "Leave undo out: mode replace keeps the whole old table.",
            }.get(options.mode, "Leave undo out: to take it back, drop the table."),
            option="undo",
        )
    if options.on_clash != "fail":
        raise Problem(
            f"Rows that are kept do not tell what on_duplicate {options.on_duplicate} has done.",
            advice="Choose mode upsert with undo keep, or leave undo out.",
            option="undo",
        )


def changed_options(options: Options) -> list[tuple[str, str]]:
    """Those that differ from their defaults: label and value, in words."""
    usual = Options()
    return [
        (each.label, each.shown(getattr(options, each.name)) or each.unset)
        for each in OPTIONS
        if getattr(options, each.name) != getattr(usual, each.name)
    ]

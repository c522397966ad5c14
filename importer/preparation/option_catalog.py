"""The settings of how fast an import loads, in words: the help of the command line and the pages say the same.

What each may be is in importer.engine.options (OFFERED, BOUNDS); docs/settings.md tells what was measured.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from importer.engine.plan.options import OFFERED, Options
from importer.engine.units import MIB


class Kind(Enum):
    """What a setting's values are: one of OFFERED, a number, a number of bytes, yes or no, variables and values."""

    CHOICE = "choice"
    NUMBER = "number"
    SIZE = "size"
    SWITCH = "switch"
    VARIABLES = "variables"


@dataclass(frozen=True)
class Setting:
    """One field of Options: `about` says what it does and what it gives up, `answers` what each value means."""

    name: str
    kind: Kind
    flag: str
    label: str
    about: str
    answers: Mapping[str, str] = field(default_factory=dict)

    @property
    def offered(self) -> dict[str, str]:
        """The values of a choice, in words."""
        return {value: self.answers.get(value) or written(value) for value in OFFERED[self.name]}

    @property
    def unset(self) -> str:
        """What it means that no value is given."""
        planned = self.name in ("parallelism", "chunk_bytes", "rows_per_statement")
        return "as planned" if planned else "none"

    def shown(self, options: Options) -> str:
        """Its value in words; "" for none."""
        value = getattr(options, self.name)
        match self.kind:
            case Kind.CHOICE:
                return self.answers.get(value) or written(value)
            case Kind.SWITCH:
                return self.answers["yes" if value else "no"]
            case Kind.VARIABLES:
                return ", ".join(f"{name} = {text}" for name, text in sorted(value.items()))
            case Kind.SIZE:
                return "" if value is None else f"{value / MIB:,.4g} MiB"
        return "" if value is None else f"{value:,}"


def written(value: str) -> str:
    """A value as it is written for people: load_data_local as LOAD DATA LOCAL, as the engine's reasons have it."""
    return value.replace("_", " ").upper() if value.startswith(("load_data", "insert")) else value.replace("_", " ")


SETTINGS: tuple[Setting, ...] = (
    Setting(
        "method",
        Kind.CHOICE,
        "--method",
        "Method",
        "How rows reach the server. Nothing is as fast as LOAD DATA; INSERT is for servers that refuse it",
        {"auto": "the planner decides"},
    ),
    Setting(
        "rows_per_statement",
        Kind.NUMBER,
        "--rows-per-statement",
        "Rows per statement",
        "For the INSERT methods: more rows save round trips, up to about 1,000; fewer keep statements small",
    ),
    Setting(
        "parallelism",
        Kind.NUMBER,
        "--parallel",
        "Chunks at once",
        "How many load side by side; more than the server has processors for only wait for each other",
    ),
    Setting(
        "chunk_bytes",
        Kind.SIZE,
        "--chunk-size",
        "Chunk size, MiB",
        "Most bytes of a chunk, which is counted, and repeated if need be, by itself; small ones share a transaction",
    ),
    Setting(
        "commit_rows",
        Kind.NUMBER,
        "--commit-rows",
        "Rows per commit",
        "Most rows of a chunk: a commit at least every so many rows, at the price of one flush of the log for each",
    ),
    Setting(
        "indexes",
        Kind.CHOICE,
        "--indexes",
        "Secondary indexes",
        "Deferred, they come off an empty or staged table until it is loaded: faster, but queries lack them meanwhile",
        {"auto": "the planner decides", "keep": "keep them on", "defer": "take off, put back after the load"},
    ),
    Setting(
        "foreign_keys",
        Kind.CHOICE,
        "--foreign-keys",
        "Foreign keys",
        "Deferred, they are checked all at once when they are put back; until then a row without its parent goes in",
        {"keep": "keep them on", "defer": "take off, put back after the load"},
    ),
    Setting(
        "sort",
        Kind.CHOICE,
        "--sort",
        "Order of the rows",
        "Key order spares random pages where the table outgrows the buffer pool; costs a sorted copy of the file first",
        {"auto": "the planner decides", "keep": "as in the file", "key": "by the primary key"},
    ),
    Setting(
        "partitions",
        Kind.NUMBER,
        "--partitions",
        "Hash partitions",
        "Of a table that mode create makes, by its primary key; for tables that many sessions write at once",
    ),
    Setting(
        "load_as",
        Kind.CHOICE,
        "--load-as",
        "Staging table",
        "MyISAM is converted at the end, with its rows written twice; for comparison, rarely faster",
        {"innodb": "InnoDB", "myisam": "MyISAM, then converted"},
    ),
    Setting(
        "unique_checks",
        Kind.SWITCH,
        "--unique-checks",
        "Unique keys",
        "Unchecked, pages of secondary keys need not be read; a duplicate in them may then be stored unseen",
        {"yes": "checked", "no": "not checked"},
    ),
    Setting(
        "foreign_key_checks",
        Kind.SWITCH,
        "--foreign-key-checks",
        "Rows' parents",
        "Unchecked, no parent is looked up; a row without one is stored, and nothing checks it later",
        {"yes": "checked", "no": "not checked"},
    ),
    Setting(
        "isolation",
        Kind.CHOICE,
        "--isolation",
        "Isolation level",
        "Of the loading sessions. REPEATABLE-READ and SERIALIZABLE lock gaps between keys: chunks wait for each other",
        {"": "READ-COMMITTED, the default"},
    ),
    Setting(
        "lock_table",
        Kind.SWITCH,
        "--lock-table",
        "Table lock",
        "Nobody else reads or writes the table while a chunk loads, and chunks load one after another",
        {"yes": "LOCK TABLES for each chunk", "no": "none: others can use the table"},
    ),
    Setting(
        "session",
        Kind.VARIABLES,
        "--session",
        "Session variables",
        "For the loading sessions only; nobody else notices",
    ),
    Setting(
        "server_variables",
        Kind.VARIABLES,
        "--server-variable",
        "Server variables",
        "For the whole server and everybody on it while the import runs; put back when it ends, however it ends",
    ),
)


def named(name: str) -> Setting:
    """The setting of this field of Options."""
    return next(each for each in SETTINGS if each.name == name)

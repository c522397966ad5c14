"""The settings of how fast an import loads, in words: the help of the command line and the pages say the same.

What each may be is in importer.engine.plan.options (OFFERED, BOUNDS); docs/settings.md tells what was measured.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from importer.engine.plan.methods import METHODS
from importer.engine.plan.options import OFFERED, Options
from importer.engine.units import MIB


class OptionKind(Enum):
    """What a setting's values are: one of OFFERED, a number, a number of bytes, yes or no, variables and values."""

    CHOICE = "choice"
    NUMBER = "number"
    SIZE = "size"
    SWITCH = "switch"
    VARIABLES = "variables"


@dataclass(frozen=True)
class OptionSpec:
    """One field of Options: `about` says what it does and what it gives up, `answers` what each value means."""

    name: str
    kind: OptionKind
    flag: str
    label: str
    about: str
    answers: Mapping[str, str] = field(default_factory=dict)

    @property
    def offered(self) -> dict[str, str]:
        """The values of a choice, in words."""
        return {value: self.answers.get(value) or display(value) for value in OFFERED[self.name]}

    @property
    def unset(self) -> str:
        """What it means that no value is given."""
        planned = self.name in ("parallelism", "chunk_bytes", "rows_per_statement")
        return "as planned" if planned else "none"

    def shown(self, options: Options) -> str:
        """Its value in words; "" for none."""
        value = getattr(options, self.name)
        match self.kind:
            case OptionKind.CHOICE:
                return self.answers.get(value) or display(value)
            case OptionKind.SWITCH:
                return self.answers["yes" if value else "no"]
            case OptionKind.VARIABLES:
                return ", ".join(f"{name} = {text}" for name, text in sorted(value.items()))
            case OptionKind.SIZE:
                return "" if value is None else f"{value / MIB:,.4g} MiB"
        return "" if value is None else f"{value:,}"


def display(value: str) -> str:
    """A value as it is written for people: load_data_local as LOAD DATA LOCAL, as the engine's reasons have it."""
    return METHODS[value].label if value in METHODS else value.replace("_", " ")


OPTIONS: tuple[OptionSpec, ...] = (
    OptionSpec(
        "method",
        OptionKind.CHOICE,
        "--method",
        "Method",
        "How rows reach the server. Nothing is as fast as LOAD DATA; INSERT is for servers that refuse it",
        {"auto": "the planner decides"},
    ),
    OptionSpec(
        "rows_per_statement",
        OptionKind.NUMBER,
        "--rows-per-statement",
        "Rows per statement",
        "For the INSERT methods: more rows save round trips, up to about 1,000; fewer keep statements small",
    ),
    OptionSpec(
        "parallelism",
        OptionKind.NUMBER,
        "--parallel",
        "Chunks at once",
        "How many load side by side; more than the server has processors for only wait for each other",
    ),
    OptionSpec(
        "chunk_bytes",
        OptionKind.SIZE,
        "--chunk-size",
        "Chunk size, MiB",
        "Most bytes of a chunk, which is counted, and repeated if need be, by itself; small ones share a transaction",
    ),
    OptionSpec(
        "commit_rows",
        OptionKind.NUMBER,
        "--commit-rows",
        "Rows per commit",
        "Most rows of a chunk: a commit at least every so many rows, at the price of one flush of the log for each",
    ),
    OptionSpec(
        "indexes",
        OptionKind.CHOICE,
        "--indexes",
        "Secondary indexes",
        "Deferred, they come off an empty or staged table until it is loaded: faster, but queries lack them meanwhile",
        {"auto": "the planner decides", "keep": "keep them on", "defer": "take off, put back after the load"},
    ),
    OptionSpec(
        "foreign_keys",
        OptionKind.CHOICE,
        "--foreign-keys",
        "Foreign keys",
        "Deferred, they are checked all at once when they are put back; until then a row without its parent goes in",
        {"keep": "keep them on", "defer": "take off, put back after the load"},
    ),
    OptionSpec(
        "sort",
        OptionKind.CHOICE,
        "--sort",
        "Order of the rows",
        "Key order spares random pages where the table outgrows the buffer pool; costs a sorted copy of the file first",
        {"auto": "the planner decides", "keep": "as in the file", "key": "by the primary key"},
    ),
    OptionSpec(
        "partitions",
        OptionKind.NUMBER,
        "--partitions",
        "Hash partitions",
        "Of a table that mode create makes, by its primary key; for tables that many sessions write at once",
    ),
    OptionSpec(
        "load_as",
        OptionKind.CHOICE,
        "--load-as",
        "Staging table",
        "MyISAM is converted at the end, with its rows written twice; for comparison, rarely faster",
        {"innodb": "InnoDB", "myisam": "MyISAM, then converted"},
    ),
    OptionSpec(
        "unique_checks",
        OptionKind.SWITCH,
        "--unique-checks",
        "Unique keys",
        "Unchecked, pages of secondary keys need not be read; a duplicate in them may then be stored unseen",
        {"yes": "checked", "no": "not checked"},
    ),
    OptionSpec(
        "foreign_key_checks",
        OptionKind.SWITCH,
        "--foreign-key-checks",
        "Rows' parents",
        "Unchecked, no parent is looked up; a row without one is stored, and nothing checks it later",
        {"yes": "checked", "no": "not checked"},
    ),
    OptionSpec(
        "isolation",
        OptionKind.CHOICE,
        "--isolation",
        "Isolation level",
        "Of the loading sessions. REPEATABLE-READ and SERIALIZABLE lock gaps between keys: chunks wait for each other",
        {"": "READ-COMMITTED, the default"},
    ),
    OptionSpec(
        "lock_table",
        OptionKind.SWITCH,
        "--lock-table",
        "Table lock",
        "Nobody else reads or writes the table while a chunk loads, and chunks load one after another",
        {"yes": "LOCK TABLES for each chunk", "no": "none: others can use the table"},
    ),
    OptionSpec(
        "session",
        OptionKind.VARIABLES,
        "--session",
        "Session variables",
        "For the loading sessions only; nobody else notices",
    ),
    OptionSpec(
        "server_variables",
        OptionKind.VARIABLES,
        "--server-variable",
        "Server variables",
        "For the whole server and everybody on it while the import runs; put back when it ends, however it ends",
    ),
)


def named(name: str) -> OptionSpec:
    """The setting of this field of Options."""
    return next(each for each in OPTIONS if each.name == name)

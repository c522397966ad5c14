"""The options of formats: fields of Dialect that a user may state, each declared once with its flag and words."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from importer.engine.errors import SourceProblem
from importer.engine.source.dialect import CSV, Dialect, escape_mark
from importer.engine.source.formats.choice import MEMBER
from importer.engine.source.formats.fixed_width import widths_text
from importer.engine.source.formats.format import Format
from importer.engine.source.formats.own_line_ends import line_start_of


@dataclass(frozen=True)
class FormatOption:
    """A field of Dialect: its flag, its label on pages, the name of its value in help, and what it means.

    `read` gives the value for a text, and raises SourceProblem for a text that is none; `show` gives the text for it.
    """

    name: str
    flag: str
    label: str
    metavar: str
    about: str
    read: Callable[[str], Any] = str
    show: Callable[[Any], str] = str


FORMAT = FormatOption("format", "--format", "File format", "FORMAT", "the format of the file, where it is not detected")
FORMAT_OPTIONS: tuple[FormatOption, ...] = (
    FormatOption(
        MEMBER.option, MEMBER.flag, "File in the archive", "NAME", "of a ZIP or tar archive: the file to read"
    ),
    FormatOption("sheet", "--sheet", "Sheet", "NAME", "of a workbook: the sheet to read"),
    FormatOption(
        "sql_table", "--sql-table", "Table in the dump", "NAME", "of an SQL dump: the table of the rows to read"
    ),
    FormatOption(
        "widths", "--widths", "Widths", "5,20,8", "of a file of fixed width: the characters of each field", widths_text
    ),
    FormatOption(
        "line_start",
        "--line-start",
        "Line start",
        "MARK",
        "all before it in a line is left out; 1 to 16 characters",
        line_start_of,
        escape_mark,
    ),
)
FORMAT_NAMES = (FORMAT.name, *(each.name for each in FORMAT_OPTIONS))


def stated_for(found: Format, dialect: Dialect) -> dict[str, Any]:
    """The options of a format that an earlier dialect of this format states."""
    return {name: value for name in found.options if (value := getattr(dialect, name)) != ""} | dialect.own


def require_suitable(found: Format, known: Mapping[str, Any]) -> None:
    """Raise SourceProblem if a stated field of the dialect has no meaning in the format."""
    for name in known:
        if name not in (FORMAT.name, MEMBER.option, *found.options):
            flag = name.replace("_", "-")
            raise SourceProblem(
                f"{found.label} has no {name.replace('_', ' ')}.",
                advice=f"Leave --{flag} out, or state --format {CSV}.",
            )

r"""The cases in cases/*.toml: a file, a table, and the expected result.

Keys of a case, with what is meant without them:
- `text`: the file's content. → stands for a tab. `raw` instead: with \x escapes, as bytes.
- `sheet` instead: the cells of a workbook, a line for each row, with | between; what is a number there is one.
  `zipped`: the files of a ZIP archive by their names.
- `encoding` (UTF-8), `bom`, `end` (lf, crlf, cr), `chop` (no line end at the end): how the text becomes bytes.
- `repeat` lines from `line` (%d: the number) and then `tail` below the text.
- `parent`: the columns of a table team, which the table may reference.
- `table`: its columns; without it the import makes the table. `before`: a statement on it. `zone`: of the server.
- `flags`: of `import_csv`.
- `rows`: the table's rows afterwards, a line each, values between `sep` (|); \N is NULL, ¶ a line end inside a value.
  `select`: what is shown of each row. `types`: beginnings of the types of a new table's columns.
- `rejected`, `notices`: rows that are rejected, and values that are stored otherwise and counted.
- `asks`: the import stops with a question of this name; `answer`: the flags that answer it, then `rows` holds.
- `or_asks`: that it asks is right too. `refused`: it ends with a message that has this text. `refused_or_asks`: one
  of both. `failed`: it runs, and fails.
"""

import codecs
import shlex
import tomllib
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path

from tests.importer.formats.workbooks import write_xlsx

FOLDER = Path(__file__).parent / "cases"
ENDS = {"lf": "\n", "crlf": "\r\n", "cr": "\r"}
# What a question about the reading of a whole file is called; such a question is never asked if the header fits.
STRUCTURE = ("delimiter", "quote", "escape", "header", "match", "trailing_delimiter")


def workbook(cells: str) -> bytes:
    """An Excel workbook with these rows."""
    rows = [[cell(each) for each in line.split("|")] for line in cells.splitlines()]
    return write_xlsx(BytesIO(), {"Sheet": rows}).getvalue()


def cell(text: str) -> str | float:
    try:
        return float(text)
    except ValueError:
        return text


def archive(files: dict[str, str]) -> bytes:
    """A ZIP archive of these files."""
    written = BytesIO()
    with zipfile.ZipFile(written, "w") as opened:
        for name, text in files.items():
            opened.writestr(name, text)
    return written.getvalue()


@dataclass(frozen=True)
class Case:
    """One case; the module's docstring explains the fields."""

    kind: str
    name: str
    text: str = ""
    raw: str = ""
    sheet: str = ""
    zipped: dict[str, str] = field(default_factory=dict)
    encoding: str = "utf-8"
    bom: bool = False
    end: str = "lf"
    chop: bool = False
    repeat: int = 0
    line: str = ""
    tail: str = ""
    parent: str = ""
    table: str = ""
    before: str = ""
    zone: str = ""
    flags: str = ""
    rows: str = ""
    sep: str = "|"
    select: str = "*"
    types: dict[str, str] = field(default_factory=dict)
    rejected: int = 0
    notices: int = 0
    asks: str = ""
    answer: str = ""
    or_asks: bool = False
    refused: str = ""
    refused_or_asks: bool = False
    failed: bool = False

    @property
    def content(self) -> bytes:
        if self.raw:
            return codecs.escape_decode(self.raw)[0]  # type: ignore[attr-defined,no-any-return]
        if self.sheet:
            return workbook(self.sheet)
        if self.zipped:
            return archive(self.zipped)
        text = self.text + "".join(self.line % (each, each) + "\n" for each in range(self.repeat)) + self.tail
        text = text.replace("→", "\t").replace("\n", ENDS[self.end])
        text = text.removesuffix(ENDS[self.end]) if self.chop else text
        return (("\ufeff" if self.bom else "") + text).encode(self.encoding)

    @property
    def creates(self) -> bool:
        return not self.table

    @property
    def wanted(self) -> list[tuple[str | None, ...]]:
        lines = self.rows.replace("→", "\t").split("\n")[:-1]
        return [
            tuple(None if each == r"\N" else each.replace("¶", "\n") for each in line.split(self.sep)) for line in lines
        ]

    @property
    def may_ask(self) -> bool:
        return bool(self.asks) or self.or_asks or self.refused_or_asks

    def arguments(self, answered: bool = False) -> list[str]:
        """The options of the command line."""
        mode = ["--mode", "create"] if self.creates else []
        return [*mode, *shlex.split(self.flags), *(shlex.split(self.answer) if answered else ())]


def cases() -> Iterator[Case]:
    """All cases, by kind."""
    for path in sorted(FOLDER.glob("*.toml")):
        for each in tomllib.loads(path.read_text())["case"]:
            yield Case(path.stem, **each)

"""What is right for a file of the corpus, as it is written down before the reader is run on the file."""

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

FOUND = Path(__file__).parent / "found"


@dataclass(frozen=True)
class Truth:
    """How a file is to be read.

    `quote`: the quote of the file, also if it has none. `skipped`: the lines (from 1) that are no records, without the
    header and blank lines. `data`: the line of the first record of data. `end`: lf, crlf or cr.

    `blanks`: those around values are no part of them. `format`: csv, json or workbook; `sheet`: the one that is read.
    `clear`: whether it is a table that can be read without a question; of others any question or refusal is right.
    `rows` and `digest`: of the values as other readers read them (independent.py), 0 and "" where they were not noted.
    """

    delimiter: str = ","
    quote: str = '"'
    header: bool = True
    skipped: tuple[int, ...] = ()
    encoding: str = "utf-8"
    end: str = "lf"
    data: int = 0
    blanks: bool = False
    format: str = "csv"
    sheet: str = ""
    clear: bool = True
    rows: int = 0
    digest: str = ""

    @property
    def first_data_line(self) -> int:
        return self.data or (2 if self.header else 1)


@dataclass(frozen=True)
class Sample:
    """A file of the corpus."""

    name: str
    content: bytes
    truth: Truth


def found() -> Iterator[Sample]:
    """The files of packages that others wrote (LICENSES.md)."""
    for each in tomllib.loads((FOUND / "truth.toml").read_text())["file"]:
        file = each.pop("file")
        truth = Truth(**each | {"skipped": tuple(each.get("skipped", ()))})
        yield Sample(f"{file} {truth.sheet}".strip(), (FOUND / file).read_bytes(), truth)

"""The format of a CSV file in LOAD DATA's own words, and the only place that renders them as SQL."""

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import Any

from importer.engine import encodings
from importer.engine.errors import SourceProblem


@dataclass(frozen=True)
class Dialect:
    """How fields and records are told apart; each value is text, "" means "none".

    `escape` "" reads RFC 4180 files right: LOAD DATA's default backslash corrupts `"C:\\new"` (facts.md).
    `line_end` is what ends a record outside quotes; `header` tells whether the first record names the columns.
    """

    delimiter: str = ","
    quote: str = '"'
    escape: str = ""
    line_end: str = "\n"
    encoding: str = "utf-8"
    header: bool = True

    def __post_init__(self) -> None:
        _require(_is_mark(self.delimiter), "delimiter", self.delimiter, "one ASCII character")
        _require(not self.quote or _is_mark(self.quote), "quote", self.quote, "one ASCII character, or none")
        _require(self.escape in ("", "\\"), "escape", self.escape, "a backslash, or none")
        _require(self.line_end in ("\n", "\r\n"), "line end", self.line_end, "LF or CR LF")
        # However it is spelled: two spellings of one encoding are the same dialect.
        object.__setattr__(self, "encoding", encodings.named(self.encoding))
        marks = [mark for mark in (self.delimiter, self.quote, self.escape) if mark]
        if len(set(marks)) < len(marks):
            raise SourceProblem("Delimiter, quote and escape must differ.", advice="Choose another one of them.")

    def fields_and_lines(self, literal: Callable[[str], str]) -> str:
        """The FIELDS and LINES clauses of LOAD DATA; `literal` quotes a string for the connection at hand."""
        enclosed = f" OPTIONALLY ENCLOSED BY {literal(self.quote)}" if self.quote else ""
        return (
            f"FIELDS TERMINATED BY {literal(self.delimiter)}{enclosed} ESCAPED BY {literal(self.escape)}"
            f" LINES TERMINATED BY {literal(self.line_end)}"
        )

    @property
    def plain(self) -> "Dialect":
        """How the plain file is read: in UTF-8, where the encoding needs a copy."""
        copied = encodings.kind(self.encoding) is encodings.Kind.OTHER
        return replace(self, encoding=encodings.UTF8) if copied else self

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def _is_mark(text: str) -> bool:
    """Whether it can stand between or around fields: NUL is data, and CR and LF belong to line ends."""
    return len(text) == 1 and text.isascii() and text not in "\0\r\n"


def _require(supported: bool, name: str, value: str, wanted: str) -> None:
    if not supported:
        raise SourceProblem(f"The {name} {value!r} is not supported.", advice=f"It can be {wanted}.")


RFC4180 = Dialect()
TSV = Dialect(delimiter="\t")
# What mysqldump --tab and SELECT ... INTO OUTFILE write: \N is NULL, backslash escapes.
MYSQL_TSV = Dialect(delimiter="\t", quote="", escape="\\", header=False)
PRESETS = {"csv": RFC4180, "tsv": TSV, "mysql": MYSQL_TSV}

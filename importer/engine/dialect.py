"""The format of a CSV file in LOAD DATA's own words, and the only place that renders them as SQL."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from importer.engine.errors import SourceProblem


@dataclass(frozen=True)
class Dialect:
    """How fields and records are told apart; each value is text, "" means "none".

    `escape` "" reads RFC 4180 files right: LOAD DATA's default backslash corrupts `"C:\\new"` (facts.md, LOAD DATA LOCAL).
    `line_end` is what ends a record outside quotes; `header` tells whether the first record names the columns.
    """

    delimiter: str = ","
    quote: str = '"'
    escape: str = ""
    line_end: str = "\n"
    encoding: str = "utf-8"
    header: bool = True

    def __post_init__(self) -> None:
        for name, value, allowed in (
            ("delimiter", self.delimiter, len(self.delimiter) == 1),
            ("quote", self.quote, len(self.quote) <= 1),
            ("escape", self.escape, self.escape in ("", "\\")),
            ("line end", self.line_end, self.line_end in ("\n", "\r\n")),
            ("encoding", self.encoding, self.encoding == "utf-8"),
        ):
            if not allowed or not value.isascii() or value in ("\0", "\n", "\r") and name != "line end":
                raise SourceProblem(f"The {name} {value!r} is not supported.", advice="See the dialects in the README.")
        if len({self.delimiter, self.quote, self.escape}) < 3 - (self.quote == self.escape == ""):
            raise SourceProblem("Delimiter, quote and escape must differ.", advice="Choose another one of them.")

    def fields_and_lines(self, literal: Callable[[str], str]) -> str:
        """The FIELDS and LINES clauses of LOAD DATA; `literal` quotes a string for the connection at hand."""
        enclosed = f" OPTIONALLY ENCLOSED BY {literal(self.quote)}" if self.quote else ""
        return (
            f"FIELDS TERMINATED BY {literal(self.delimiter)}{enclosed} ESCAPED BY {literal(self.escape)}"
            f" LINES TERMINATED BY {literal(self.line_end)}"
        )

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


RFC4180 = Dialect()
TSV = Dialect(delimiter="\t")
# What mysqldump --tab and SELECT ... INTO OUTFILE write: \N is NULL, backslash escapes.
MYSQL_TSV = Dialect(delimiter="\t", quote="", escape="\\", header=False)
PRESETS = {"csv": RFC4180, "tsv": TSV, "mysql": MYSQL_TSV}

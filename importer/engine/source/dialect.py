"""The format of a CSV file, and the only place that renders it in LOAD DATA's own words."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property

from importer.engine.errors import SourceProblem
from importer.engine.source import encodings

LONGEST_DELIMITER = 10  # characters
ANY_LINE_END = "any"
# How line ends are called where the characters themselves cannot be written.
LINE_ENDS = {"lf": "\n", "crlf": "\r\n", "cr": "\r", "any": ANY_LINE_END}


@dataclass(frozen=True)
class Dialect:
    r"""How fields and records are told apart; each mark is text, "" means "none".

    `delimiter` is one or more characters. `escape` "" reads RFC 4180 files right: LOAD DATA's default backslash
    corrupts `"C:\new"` (server-behaviour.md). `line_end` is what ends a record outside quotes; "any": each of CR LF, LF
    and CR does. `header` tells whether the first record names the columns, `skip_rows` how many physical lines come
    before it. With `trailing_delimiter` each record ends in one more delimiter, which begins no field. `blank_lines`
    "skip": a line with nothing in it is no record; "keep": it is a record with one empty field. With
    `unquoted_empty_is_null` a field with nothing in it is NULL, and one with quotes around nothing is an empty text.

    `width` is how many fields a record has as a rule, 0 where that is not known. It changes no reading of a sound file:
    it tells a quote that was never closed from a long text.
    """

    delimiter: str = ","
    quote: str = '"'
    escape: str = ""
    line_end: str = "\n"
    encoding: str = "utf-8"
    header: bool = True
    skip_rows: int = 0
    trailing_delimiter: bool = False
    blank_lines: str = "skip"
    unquoted_empty_is_null: bool = False
    width: int = field(default=0, compare=False)

    def __post_init__(self) -> None:
        _require(_is_delimiter(self.delimiter), "delimiter", self.delimiter, f"1 to {LONGEST_DELIMITER} characters")
        _require(not self.quote or _is_mark(self.quote), "quote", self.quote, "one ASCII character, or none")
        _require(self.escape in ("", "\\"), "escape", self.escape, "a backslash, or none")
        _require(self.line_end in LINE_ENDS.values(), "line end", self.line_end, "LF, CR LF, CR, or any of them")
        # However it is spelled: two spellings of one encoding are the same dialect.
        object.__setattr__(self, "encoding", encodings.named(self.encoding))
        written = encodings.writable(self.delimiter, self.encoding)
        _require(written, "delimiter", self.delimiter, f"characters that {self.encoding} has")
        _require(self.skip_rows >= 0, "skip rows", str(self.skip_rows), "a number of lines from 0 on")
        _require(self.blank_lines in ("skip", "keep"), "blank lines", self.blank_lines, "skip or keep")
        _require(
            bool(self.quote) or not self.unquoted_empty_is_null,
            "unquoted empty is null",
            "True",
            "True only where there is a quote to tell NULL from an empty text",
        )
        if (self.quote and self.quote in self.delimiter + self.escape) or (
            self.escape and self.escape in self.delimiter
        ):
            raise SourceProblem("Delimiter, quote and escape must differ.", advice="Choose another one of them.")

    @cached_property
    def delimiter_bytes(self) -> bytes:
        """The delimiter as it stands in the plain file."""
        return self.delimiter.encode(self.plain.encoding)

    @property
    def null(self) -> str:
        r"""The text that is NULL whatever the column: `\N` where there is an escape, else ""."""
        return r"\N" if self.escape else ""

    @cached_property
    def rewriting(self) -> tuple[str, ...]:
        """Why the server cannot read the file's own bytes right, in plain words; () where it can."""
        return tuple(
            why
            for why, needed in (
                ("lines may end in LF, CR LF or CR", self.line_end == ANY_LINE_END),
                ("the server does not support a delimiter that is not ASCII", not self.delimiter.isascii()),
                ("an empty field is NULL without quotes and a text with them", self.unquoted_empty_is_null),
                ("the delimiter at a line's end can be read in two ways", self._doubtful_at_line_end),
            )
            if needed
        )

    @property
    def sent(self) -> "Dialect":
        """The dialect that the server is told: this one, or the one that records are rewritten into (rewrite.py)."""
        if not self.rewriting:
            return self
        usable = _is_mark(self.delimiter) and self.delimiter != '"'
        return Dialect(self.delimiter if usable else ",", encoding=self.encoding, blank_lines="keep", width=self.width)

    @property
    def _doubtful_at_line_end(self) -> bool:
        """Whether `a|||` and a line end could end in the delimiter `||` or in a field `|`."""
        d = self.delimiter
        return self.trailing_delimiter and any(d.startswith(d[cut:]) for cut in range(1, len(d)))

    def fields_and_lines(self, literal: Callable[[str], str]) -> str:
        """The FIELDS and LINES clauses of LOAD DATA for `sent`; `literal` quotes a string for the connection at hand.

        The server takes delimiters of several characters and finds them as we do, the first that begins first; one that
        is not ASCII it only warns about (1638), so such files are rewritten.
        """
        sent = self.sent
        enclosed = f" OPTIONALLY ENCLOSED BY {literal(sent.quote)}" if sent.quote else ""
        return (
            f"FIELDS TERMINATED BY {literal(sent.delimiter)}{enclosed} ESCAPED BY {literal(sent.escape)}"
            f" LINES TERMINATED BY {literal(sent.line_end)}"
        )

    @property
    def plain(self) -> "Dialect":
        """How the plain file is read: in UTF-8, where the encoding needs a copy."""
        copied = encodings.kind(self.encoding) is encodings.EncodingKind.OTHER
        return replace(self, encoding=encodings.UTF8) if copied else self


def as_written(mark: str) -> str:
    r"""A mark for people to read and write: `\t` for a tab, `\x01` for another control character, `\\` for `\`."""
    written = mark.replace("\\", r"\\").replace("\t", r"\t")
    return re.sub(r"[\x00-\x1f\x7f]", lambda control: f"\\x{ord(control[0]):02x}", written)


def from_written(text: str) -> str:
    r"""The mark that was written so; a backslash that begins none of these stands for itself."""
    return re.sub(r"\\(?:(t)|(\\)|x([0-9a-fA-F]{2}))", _meant, text)


def _meant(written: re.Match[str]) -> str:
    return chr(int(written[3], 16)) if written[3] else "\t" if written[1] else "\\"


def _is_mark(text: str) -> bool:
    """Whether it can stand around fields: NUL is data, and CR and LF belong to line ends."""
    return len(text) == 1 and text.isascii() and text not in "\0\r\n"


def _is_delimiter(text: str) -> bool:
    return 0 < len(text) <= LONGEST_DELIMITER and not set(text) & set("\0\r\n")


def _require(supported: bool, name: str, value: str, wanted: str) -> None:
    if not supported:
        raise SourceProblem(f"The {name} {value!r} is not supported.", advice=f"It can be {wanted}.")


RFC4180 = Dialect()
TSV = Dialect(delimiter="\t")
# What mysqldump --tab and SELECT ... INTO OUTFILE write: \N is NULL, backslash escapes. An empty line is an empty value
# of a table of one column.
MYSQL_TSV = Dialect(delimiter="\t", quote="", escape="\\", header=False, blank_lines="keep")
PRESETS = {"csv": RFC4180, "tsv": TSV, "mysql": MYSQL_TSV}

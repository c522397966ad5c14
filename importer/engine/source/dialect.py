"""The dialect of a CSV file, and its FIELDS and LINES clauses for LOAD DATA."""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from importer.engine.errors import SourceProblem
from importer.engine.source import encodings

LONGEST_DELIMITER = 10  # characters
ANY_LINE_END = "any"
# The format of a file that is read as it is.
CSV = "csv"
# Names for line ends, for use where the characters themselves cannot be typed.
LINE_ENDS = {"lf": "\n", "crlf": "\r\n", "cr": "\r", "any": ANY_LINE_END}
# The marks that a file may have of its own, beside those of its working copy.
OWN_MARKS = ("line_end", "delimiter", "quote", "escape")
# What a backslash means (Dialect.escape), in words.
ESCAPES = {
    "": "none",
    "\\": "backslash",
    "quote": "backslash before quotes only",
    "php": "as PHP writes it, backslashes stay",
}


@dataclass(frozen=True)
class Dialect:
    r"""How a CSV file separates records and fields. Each mark is text; "" means "none".

    - `delimiter`: one or more characters.
    - `escape`: "" for RFC 4180 files, because LOAD DATA's default backslash corrupts `"C:\new"`
      (server-behaviour.md). A backslash: it escapes every character, as in MySQL. "quote" and "php": only inside
      quotes, `\"` does not close the field, and any other backslash is a plain character. For "quote", `\"` is a quote.
      For "php", it stays `\"`: PHP's fputcsv doubles quotes, but not those after a backslash. Of `\\"`, the backslashes
      are a pair and stay, and the quote closes the field, as PHP's fgetcsv reads it.
    - `line_end`: ends a record outside quotes; "any": CR LF, LF and CR all do.
    - `header`: whether the first record names the columns; `skip_rows`: the number of physical lines before it.
    - `trailing_delimiter`: each record ends with an additional delimiter, after which no field begins.
    - `blank_lines`: "skip": a blank line is not a record; "keep": it is a record with one empty field.
    - `comment`: a line that begins with it where a record would begin is no record; "": no line is a comment.
    - `skip_after_header`, `skip_footer`: the number of physical lines below the header, and at the file's end (blank
      lines after them aside), that are no records.
    - `skip_repeated_header`: a record that equals the header is none. `header_line` is the header then, found by the
      profile.
    - `unquoted_empty_is_null`: an empty field without quotes is NULL, and `""` is an empty text.
    - `width`: the usual number of fields in a record, 0 if it is not known. It does not change how a sound file is
      read: it distinguishes a quote that was never closed from a long text.
    - `sampled`: of `comment`, `quote`, `skip_rows`, `skip_after_header` and `skip_footer` those that a file's sample
      has shown: a stated mark is not among them, and a stated number of lines is only if the sample shows as many. A
      comment that may be a record is a flaw then (records/no_records.py), and other files are compared
      (reading/other_file.py).
    - `raw_fields`: the positions (from 0) of fields whose bytes go into columns of bytes unchanged, in any encoding. An
      import's plan has them. `odd_bytes`: the sample is not valid in the encoding.
    - `line_start`: all before it in a record is left out. `own_marks`: the file's own line end, delimiter, quote and
      escape, as a JSON object, where a working copy has others (formats/own_line_ends.py).
    - `format`: the name of the file's format (source/formats/registry.py). Of another format than CSV, a working copy
      in text is read: the marks above are the copy's then, and those of Dialect `COPY`. `fields`: the copy's header,
      found by the profile. `member`, `sheet`, `widths`, `sql_table`: the options of formats (formats/options.py).
      `marks_refused`: the copy marks the rows that the format could not read (records/refused.py). `time_zone`: that of
      the file's times, which an SQL dump sets for its session; "" for none. The rejected rows of the dump keep it.
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
    comment: str = ""
    skip_after_header: int = 0
    skip_footer: int = 0
    skip_repeated_header: bool = False
    header_line: str = field(default="", compare=False)
    width: int = field(default=0, compare=False)
    raw_fields: tuple[int, ...] = field(default=(), compare=False)
    odd_bytes: bool = field(default=False, compare=False)
    sampled: tuple[str, ...] = field(default=(), compare=False)
    format: str = CSV
    fields: tuple[str, ...] = field(default=(), compare=False)
    member: str = ""
    sheet: str = ""
    widths: str = ""
    sql_table: str = ""
    line_start: str = ""
    own_marks: str = ""
    marks_refused: bool = field(default=False, compare=False)
    time_zone: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        _require(_is_delimiter(self.delimiter), "delimiter", self.delimiter, f"1 to {LONGEST_DELIMITER} characters")
        _require(not self.quote or _is_mark(self.quote), "quote", self.quote, "one ASCII character, or none")
        _require(self.escape in ESCAPES, "escape", self.escape, "a backslash, quote, php, or none")
        usable = bool(self.quote) or not self.escapes_quotes_only
        _require(usable, "escape", self.escape, f"{self.escape} only if there is a quote")
        _require(self.line_end in LINE_ENDS.values(), "line end", self.line_end, "LF, CR LF, CR, or any of them")
        # Two spellings of one encoding are the same dialect.
        object.__setattr__(self, "encoding", encodings.canonical_name(self.encoding))
        encodable = encodings.writable(self.delimiter, self.encoding)
        _require(encodable, "delimiter", self.delimiter, f"characters that {self.encoding} has")
        _require(self.skip_rows >= 0, "skip rows", str(self.skip_rows), "a number of lines from 0 on")
        for name in ("skip_after_header", "skip_footer"):
            value = getattr(self, name)
            _require(value >= 0, name.replace("_", " "), str(value), "a number of lines from 0 on")
        _require(self.blank_lines in ("skip", "keep"), "blank lines", self.blank_lines, "skip or keep")
        self._check_comment()
        _require(
            bool(self.quote) or not self.unquoted_empty_is_null,
            "unquoted empty is null",
            "True",
            "True only with a quote, which distinguishes an empty text from NULL",
        )
        escape = self.escape_bytes.decode()
        if (self.quote and self.quote in self.delimiter + escape) or (escape and escape in self.delimiter):
            raise SourceProblem("Delimiter, quote and escape must differ.", advice="Choose another one of them.")

    def _check_comment(self) -> None:
        wanted = f"1 to {LONGEST_DELIMITER} characters, which begin neither with the quote nor with the escape"
        mark = self.comment[:1]
        usable = _is_delimiter(self.comment) and encodings.writable(self.comment, self.encoding)
        usable = usable and mark not in (self.quote, self.escape_bytes.decode())
        _require(not self.comment or usable, "comment", self.comment, wanted)

    def stating(self, **known: Any) -> "Dialect":
        """This dialect with these fields, which are stated: a line end that CSV lacks, and marks beside it, as own."""
        if self.own_marks or known.get("line_end", "\n") not in LINE_ENDS.values():
            own = self.own | {name: known.pop(name) for name in OWN_MARKS if name in known}
            known["own_marks"] = json.dumps(own)
        return replace(self, **known, sampled=tuple(name for name in self.sampled if name not in known))

    @cached_property
    def own(self) -> dict[str, str]:
        """The marks of the file itself, by the names of fields, where its working copy has others."""
        marks: dict[str, str] = json.loads(self.own_marks or "{}")
        return marks

    @property
    def leaves_lines_out(self) -> bool:
        """Whether lines among the records may be no records although they are not blank."""
        return bool(self.comment or self.repeated_bytes)

    @cached_property
    def repeated_bytes(self) -> bytes:
        """The header's line in the plain file's encoding if its repetitions are no records, else b""."""
        return self.header_line.encode(self.plain.encoding) if self.skip_repeated_header else b""

    @cached_property
    def comment_bytes(self) -> bytes:
        """The begin of a comment in the plain file's encoding."""
        return self.comment.encode(self.plain.encoding)

    @cached_property
    def delimiter_bytes(self) -> bytes:
        """The delimiter in the plain file's encoding."""
        return self.delimiter.encode(self.plain.encoding)

    @property
    def escapes_all(self) -> bool:
        """Whether a backslash escapes every character, in quotes and outside."""
        return self.escape == "\\"

    @property
    def escapes_quotes_only(self) -> bool:
        """Whether a backslash escapes a quote within quotes, and nothing else."""
        return bool(self.escape) and not self.escapes_all

    @cached_property
    def escape_bytes(self) -> bytes:
        """The backslash if it escapes any character, else b""."""
        return b"\\" if self.escape else b""

    @cached_property
    def marks(self) -> tuple[bytes, ...]:
        """The bytes without which a field is the bytes between delimiters: the quote, and an escape outside quotes."""
        return tuple(each for each in (self.quote.encode(), self.escape_bytes * self.escapes_all) if each)

    def escapes_in(self, data: bytes) -> bool:
        """Whether `data` has an escape with a meaning. If not, it can be read in the dialect `unescaped`."""
        if not self.escape or self.escape_bytes not in data:
            return False
        return self.escapes_all or self.escape_bytes + self.quote.encode() in data

    @cached_property
    def unescaped(self) -> "Dialect":
        """The dialect without its escape."""
        return replace(self, escape="")

    @property
    def null(self) -> str:
        r"""The text that means NULL in every column: `\N` if a backslash escapes every character, else ""."""
        return r"\N" if self.escapes_all else ""

    @cached_property
    def rewriting(self) -> tuple[str, ...]:
        """The reasons why the server cannot read the file's own bytes correctly, in plain words; () if it can."""
        return tuple(
            why
            for why, needed in (
                ("lines may end in LF, CR LF or CR", self.line_end == ANY_LINE_END),
                ("the server does not support a delimiter that is not ASCII", not self.delimiter.isascii()),
                ("an empty field is NULL without quotes and a text with them", self.unquoted_empty_is_null),
                ("the delimiter at a line's end can be read in two ways", self._is_ambiguous_at_line_end),
                ("backslashes escape quotes only", self.escapes_quotes_only),
                ("columns of bytes take the bytes of the file, in any encoding", bool(self.raw_fields)),
            )
            if needed
        )

    @property
    def sent(self) -> "Dialect":
        """The dialect of LOAD DATA's clauses: the file's own, or that into which feed/rewriter.py rewrites records."""
        if not self.rewriting:
            return self
        usable = _is_mark(self.delimiter) and self.delimiter != '"'
        return Dialect(self.delimiter if usable else ",", encoding=self.encoding, blank_lines="keep", width=self.width)

    @property
    def _is_ambiguous_at_line_end(self) -> bool:
        """Whether a line's end has two readings: `a|||` could end with the delimiter `||` or with a field `|`."""
        d = self.delimiter
        return self.trailing_delimiter and any(d.startswith(d[cut:]) for cut in range(1, len(d)))

    def fields_and_lines(self, literal: Callable[[str], str]) -> str:
        """The FIELDS and LINES clauses of LOAD DATA for `sent`; `literal` quotes a string for the connection in use.

        The server accepts delimiters of several characters. Of two that overlap, the one that begins first counts, for
        the server as for this program. For a delimiter that is not ASCII, the server only gives a warning (1638), so
        those files are rewritten.
        """
        sent = self.sent
        enclosed = f" OPTIONALLY ENCLOSED BY {literal(sent.quote)}" if sent.quote else ""
        return (
            f"FIELDS TERMINATED BY {literal(sent.delimiter)}{enclosed} ESCAPED BY {literal(sent.escape)}"
            f" LINES TERMINATED BY {literal(sent.line_end)}"
        )

    @property
    def is_converted(self) -> bool:
        """Whether the file is in another format than CSV, and a copy in text is read."""
        return self.format != CSV

    @property
    def of_rejects(self) -> "Dialect":
        """The dialect of a file of rejected records: this one, or that of the copy of a file in another format."""
        return self.plain if self.is_converted else self

    @property
    def encoding_kind(self) -> encodings.EncodingKind:
        """How the encoding is read: a file of another format is decoded while it is converted."""
        return encodings.EncodingKind.OTHER if self.is_converted else encodings.kind(self.encoding)

    @cached_property
    def plain(self) -> "Dialect":
        """The dialect of the plain file: its encoding is UTF-8 if this encoding or format requires a copy."""
        copied = self.encoding_kind is encodings.EncodingKind.OTHER
        return replace(self, encoding=encodings.UTF8, **(_OF_CSV if self.is_converted else {})) if copied else self


# The fields of a dialect that have a meaning for other formats, as CSV has them.
_OF_CSV: dict[str, Any] = {
    "format": CSV,
    "fields": (),
    "skip_rows": 0,
    "skip_footer": 0,
    "member": "",
    "sheet": "",
    "widths": "",
    "sql_table": "",
    "line_start": "",
    "own_marks": "",
}


def line_end_name(line_end: str) -> str:
    """The name of a line end in LINE_ENDS: lf, crlf, cr, any; another one as people type it."""
    return next((name for name, mark in LINE_ENDS.items() if mark == line_end), escape_mark(line_end))


def escape_mark(mark: str) -> str:
    r"""A mark as people read and type it: `\t`, `\n`, `\r`, `\x01` for control characters, `\\` for `\`."""
    written = mark.replace("\\", r"\\").replace("\t", r"\t").replace("\n", r"\n").replace("\r", r"\r")
    return re.sub(r"[\x00-\x1f\x7f]", lambda control: f"\\x{ord(control[0]):02x}", written)


def unescape_mark(text: str) -> str:
    r"""The mark for a text as escape_mark() gives it; any other backslash stands for itself."""
    return re.sub(r"\\(?:([tnr\\])|x([0-9a-fA-F]{2}))", _unescaped, text)


def _unescaped(escaped: re.Match[str]) -> str:
    return chr(int(escaped[2], 16)) if escaped[2] else {"t": "\t", "n": "\n", "r": "\r", "\\": "\\"}[escaped[1]]


def _is_mark(text: str) -> bool:
    """Whether the text can be a quote: NUL is data, and CR and LF belong to line ends."""
    return len(text) == 1 and text.isascii() and text not in "\0\r\n"


def _is_delimiter(text: str) -> bool:
    return 0 < len(text) <= LONGEST_DELIMITER and not set(text) & set("\0\r\n")


def _require(supported: bool, name: str, value: str, wanted: str) -> None:
    if not supported:
        raise SourceProblem(f"The {name} {value!r} is not supported.", advice=f"It can be {wanted}.")


RFC4180 = Dialect()
TSV = Dialect(delimiter="\t")
# The format of mysqldump --tab and SELECT ... INTO OUTFILE: \N is NULL, and a backslash escapes. An empty line is an
# empty value in a table of one column.
MYSQL_TSV = Dialect(delimiter="\t", quote="", escape="\\", header=False, blank_lines="keep")
# The working copy of a file in another format: NULL is \N, and a value has no line end, so that a record is a line.
COPY = Dialect(delimiter="\t", quote="", escape="\\", blank_lines="keep", marks_refused=True)
PRESETS = {"csv": RFC4180, "tsv": TSV, "mysql": MYSQL_TSV}

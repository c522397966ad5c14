"""The fields of the form for the file's format: one for each field of Dialect, with its words and its text.

A page shows those that have a meaning in the file's format.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from dashboard.formatting import entered_number
from importer.engine.source import encodings
from importer.engine.source.dialect import ESCAPES, Dialect, escape_mark, line_end_name, unescape_mark
from importer.engine.source.formats.options import FORMAT, FORMAT_OPTIONS
from importer.engine.source.formats.own_line_ends import line_end_of
from importer.engine.source.formats.registry import FORMATS, NAMES

DELIMITERS = {",": "comma", r"\t": "tab", ";": "semicolon", "|": "vertical bar"}
LINE_END_WORDS = {"lf": "LF (Unix)", "crlf": "CR LF (Windows)", "cr": "CR (old Macs)", "any": "any of them"}
_YES_NO = {"yes": True, "no": False}


@dataclass(frozen=True)
class FormatField:
    """One field of Dialect in the form.

    `read` gives the value for the text that the form sends, and raises KeyError, ValueError or SourceProblem for a text
    that is none; `show` is the inverse. `words`: for a select, each text with its words.
    """

    name: str
    label: str
    read: Callable[[str], Any]
    show: Callable[[Any], str]
    words: Mapping[str, str] = field(default_factory=dict)
    suggested: Mapping[str, str] = field(default_factory=dict)

    @property
    def counts(self) -> bool:
        """Whether it is a number of lines."""
        return self.read is _lines


def _text(name: str, label: str, words: Mapping[str, str] | None = None) -> FormatField:
    return FormatField(name, label, str, str, words or {})


def _choice(name: str, label: str, values: Mapping[str, Any], words: Mapping[str, str]) -> FormatField:
    return FormatField(
        name, label, values.__getitem__, {value: text for text, value in values.items()}.__getitem__, words
    )


def _lines(text: str) -> int:
    return entered_number(text) or 0


_ALL = (
    _text(FORMAT.name, FORMAT.label, NAMES),
    *(FormatField(each.name, each.label, each.read, each.show) for each in FORMAT_OPTIONS),
    FormatField("encoding", "Encoding", encodings.canonical_name, str, suggested=encodings.COMMON),
    FormatField("delimiter", "Delimiter", unescape_mark, escape_mark, suggested=DELIMITERS),
    FormatField("skip_rows", "Skip first lines", _lines, str),
    _text("quote", "Quote", {'"': 'double "', "'": "single '", "": "none"}),
    _text("escape", "Escape", ESCAPES),
    FormatField("line_end", "Line end", line_end_of, line_end_name, suggested=LINE_END_WORDS),
    _choice("header", "Header row", _YES_NO, {"yes": "Yes", "no": "No"}),
    FormatField("skip_after_header", "Skip lines after the header", _lines, str),
    FormatField("skip_footer", "Skip last lines", _lines, str),
    _choice("skip_repeated_header", "Repeated header rows", _YES_NO, {"no": "Load as data", "yes": "Skip"}),
    FormatField("comment", "Comment prefix", unescape_mark, escape_mark),
    _text("blank_lines", "Blank lines", {"skip": "Skip", "keep": "Load as rows"}),
    _choice("trailing_delimiter", "Trailing delimiter", _YES_NO, {"no": "Empty column", "yes": "Ignore"}),
    _choice("unquoted_empty_is_null", "Unquoted empty value", _YES_NO, {"no": "Empty text", "yes": "NULL"}),
)
FORMAT_FIELDS: dict[str, FormatField] = {each.name: each for each in _ALL}


def shown_format(dialect: Dialect) -> dict[str, str]:
    """The text of each field for a dialect."""
    return {name: each.show(dialect.own.get(name, getattr(dialect, name))) for name, each in FORMAT_FIELDS.items()}


@dataclass(frozen=True)
class FormatInput:
    """A field of the format as the page shows it. `options` of a select: value, label, whether chosen."""

    field: FormatField
    text: str

    @property
    def options(self) -> list[tuple[str, str, bool]]:
        words = self.field.words
        known = words if not words or self.text in words else {**words, self.text: self.text}
        return [(value, word, value == self.text) for value, word in known.items()]


def format_inputs(texts: Mapping[str, str]) -> list[FormatInput]:
    """The fields of the file's format with their texts. Without an input, the next request would forget an answer."""
    return [FormatInput(FORMAT_FIELDS[name], texts[name]) for name in FORMAT_FIELDS if name in _shown(texts)]


def _shown(texts: Mapping[str, str]) -> Collection[str]:
    """The names of the fields that have a meaning in the chosen format."""
    chosen = FORMATS.get(texts[FORMAT.name])
    if chosen:
        return (FORMAT.name, *chosen.options)
    return FORMAT_FIELDS.keys() - {each.name for each in FORMAT_OPTIONS}

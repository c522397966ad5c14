"""What a transform is: one conversion of a field's text on its way into a column."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from importer.engine.schema.column_types import ColumnType
from importer.engine.schema.table import Column

BLANKS = " \t\u00a0"


@dataclass(frozen=True)
class Transform:
    """One conversion of a text.

    `words` name it in a sentence; `example` shows it. `accepted`: whether it suits columns of a type. `takes`: the
    regular expression of the texts that it accepts for a column; None for any text. `expression` renders SQL for the
    value from SQL for an accepted text. `returns_null`: for all other texts the expression is NULL, so that no match is
    needed first.
    `cleans`: it trims the text first, before NULL markers are compared; a reading of the trimmed text may follow.
    `in_python`: the conversion in Python, for code that examines the digits of a value. `hint`: what may surprise about
    a text that is not accepted. `separators`, `decimal_mark`:
    the characters that a number's transform removes, and the one that it replaces by a point. `currency`: the only sign
    of a currency that it accepts. Such a transform is not listed: it is proposed where the sample has that sign only.
    """

    name: str
    words: str
    example: str
    accepted: Callable[[ColumnType], bool]
    takes: Callable[[Column], str] | None
    expression: Callable[[str, Column], str]
    cleans: bool = False
    returns_null: bool = False
    in_python: Callable[[str], str] | None = None
    hint: str = ""
    separators: str = ""
    decimal_mark: str = ""
    currency: str = ""

    @property
    def label(self) -> str:
        """The words with a capital letter, for lists and tables."""
        return self.words[:1].upper() + self.words[1:]

    @property
    def clean(self) -> Callable[[str], str] | None:
        """The trimming in Python; None for a transform that does not trim."""
        return self.in_python if self.cleans else None

    def goes_with(self, column: Column) -> bool:
        return self.accepted(column.column_type)

    def fits(self, text: str, column: Column) -> bool:
        """Whether the transform accepts the text for the column."""
        return self.matcher(column)(text)

    def matcher(self, column: Column) -> Callable[[str], bool]:
        """fits() for many texts of one column."""
        if self.takes is None:
            return lambda _: True
        pattern = re.compile(self.takes(column))
        return lambda text: pattern.fullmatch(text) is not None

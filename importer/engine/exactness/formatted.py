"""Dates that STR_TO_DATE reads in a format of the mapping: what of them the column does not keep."""

import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from importer.engine.exactness.cells import Cells
from importer.engine.exactness.times import LOST_PART, TIME_OF_DAY
from importer.engine.exactness.verdict import Verdict, refused, rounded

_CLOCK = {"%H": "clock", "%k": "clock", "%i": "clock", "%s": "clock", "%S": "clock", "%f": "part"}


@dataclass(frozen=True)
class Formatted:
    """A column of dates or times read in `format`; `digits` is what it keeps of a fraction, `day` says: no time."""

    type: str
    format: str
    digits: int
    day: bool

    def unusual(self, cells: Cells) -> Any:
        """All cells where the format can say more than the column keeps, else none."""
        more = self.day and any(part in self.format for part in _CLOCK)
        return np.arange(len(cells) if more or ("%f" in self.format and self.digits < 6) else 0)

    def judge(self, text: str) -> Verdict | None:
        found = re.match(_pattern(self.format), text)
        if not found:
            return None  # the server says what is wrong
        said = {name: value or "" for name, value in found.groupdict().items()}
        if self.day and any(value.strip("0") for value in said.values()):
            return refused("time", TIME_OF_DAY)
        part = next((value for name, value in said.items() if name.startswith("part")), "")
        return (
            rounded("fraction of a second", LOST_PART.format(type=self.type))
            if part[self.digits :].strip("0")
            else None
        )


def _pattern(datetime_format: str) -> str:
    pieces = re.split(r"(%\w)", datetime_format)
    return "".join(
        rf"(?P<{_CLOCK[piece]}{number}>\d+)" if piece in _CLOCK
        else r"\w+?" if number % 2 else re.escape(piece)
        for number, piece in enumerate(pieces)
    )  # fmt: skip

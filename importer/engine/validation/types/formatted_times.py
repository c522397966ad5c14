"""Times of day that a format of the mapping reads for a column of dates, which would drop them with a mere Note."""

import re
from dataclasses import dataclass

import numpy as np

from importer.engine.mapping.date_formats import PARTS
from importer.engine.source.arrays import Offsets
from importer.engine.validation.cell_batch import Cells
from importer.engine.validation.types.temporal import TIME_OF_DAY
from importer.engine.validation.verdict import Verdict, refused

_CLOCK = ("%H", "%k", "%h", "%l", "%i", "%s", "%f")


@dataclass(frozen=True)
class FormattedTime:
    """A column of dates that are read in `format`; what the format does not fit is refused by the expression."""

    type: str
    format: str

    def unusual(self, cells: Cells) -> Offsets:
        """All cells where the format has more than a day, else none."""
        return np.arange(len(cells) if self.has_clock else 0)

    @property
    def has_clock(self) -> bool:
        return any(part in self.format for part in _CLOCK)

    def judge(self, text: str) -> Verdict | None:
        pieces = re.split(r"(%\w)", self.format)
        found = re.fullmatch("".join(f"({PARTS[each]})" if each in PARTS else re.escape(each) for each in pieces), text)
        if not found:
            return None
        said = dict(zip(pieces[1::2], found.groups(), strict=True))
        midnight = said.get("%p", "").upper() == "AM"
        clock = [value for part, value in said.items() if part in _CLOCK and not (midnight and value == "12")]
        return refused("time", TIME_OF_DAY) if any(value.strip("0") for value in clock) else None

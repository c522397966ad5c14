"""Times that a date format of the mapping reads for a DATE column, which would drop them with a mere Note."""

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
    """A DATE column whose values are read in `format`. The mapping's expression refuses values in other formats."""

    type: str
    format: str

    def unusual(self, cells: Cells) -> Offsets:
        """All cells if the format has a time, otherwise none."""
        return np.arange(len(cells) if self.has_clock else 0)

    @property
    def has_clock(self) -> bool:
        return any(part in self.format for part in _CLOCK)

    def judge(self, text: str) -> Verdict | None:
        pieces = re.split(r"(%\w)", self.format)
        match = re.fullmatch("".join(f"({PARTS[each]})" if each in PARTS else re.escape(each) for each in pieces), text)
        if not match:
            return None
        parts = dict(zip(pieces[1::2], match.groups(), strict=True))
        before_noon = parts.get("%p", "").upper() == "AM"
        clock = [value for part, value in parts.items() if part in _CLOCK and not (before_noon and value == "12")]
        return refused("time", TIME_OF_DAY) if any(value.strip("0") for value in clock) else None

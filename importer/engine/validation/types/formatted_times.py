"""Dates and times that a date format of the mapping reads: what their column would drop without a warning."""

from dataclasses import dataclass

from importer.engine.mapping.date_formats import CLOCK, has_clock, parts_of
from importer.engine.source.arrays import Offsets, np
from importer.engine.validation.cell_batch import Cells
from importer.engine.validation.types.temporal import LOST_PART, TIME_OF_DAY
from importer.engine.validation.verdict import Verdict, refused, rounded


@dataclass(frozen=True)
class FormattedTime:
    """Values that are read in `format`. The mapping's expression refuses values in other formats.

    `digits`: the fractional digits of seconds that the column keeps; -1 for DATE, which keeps no time of day.
    """

    type: str
    format: str
    digits: int = -1

    def unusual(self, cells: Cells) -> Offsets:
        """All cells if the column may drop a part of the format, otherwise none."""
        return np.arange(len(cells) if self.drops else 0)

    @property
    def drops(self) -> bool:
        """Whether the format has a part that the column drops."""
        return has_clock(self.format) if self.digits < 0 else "%f" in self.format

    def judge(self, text: str) -> Verdict | None:
        parts = parts_of(self.format, text)
        if parts is None:
            return None
        if self.digits >= 0:
            lost = parts.get("%f", "")[self.digits :].strip("0")
            return rounded("fraction of a second", LOST_PART.format(type=self.type)) if lost else None
        before_noon = parts.get("%p", "").upper() == "AM"
        clock = [value for part, value in parts.items() if part in CLOCK and not (before_noon and value == "12")]
        return refused("time", TIME_OF_DAY) if any(value.strip("0") for value in clock) else None

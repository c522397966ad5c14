"""Numbers that transforms convert for a column of decimals: checks whether the column loses digits."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from importer.engine.mapping.transforms import TRANSFORMS, number_reader
from importer.engine.schema.table import Column
from importer.engine.source.arrays import Mask, Offsets, np
from importer.engine.validation.cell_batch import LONGEST, Cells
from importer.engine.validation.types.numbers import FixedPoint, FloatingPoint
from importer.engine.validation.verdict import Verdict

# The whole part of a grouped number ends in this many digits after the last separator.
_GROUP = 3


@dataclass(frozen=True)
class FormattedNumber:
    """Numbers that `transforms` convert, for a column with the rule `column_rule`."""

    column_rule: FloatingPoint | FixedPoint
    transforms: tuple[str, ...]

    @property
    def type(self) -> str:
        return self.column_rule.type

    def unusual(self, cells: Cells) -> Offsets:
        """Cells with more bytes than the column always keeps digits; all cells if other faults are possible."""
        long = np.flatnonzero(cells.lengths > self.always_kept_bytes)
        if not isinstance(self.column_rule, FixedPoint) or not len(long) or not self._only_separators:
            return long
        return long[~self._certainly_kept(cells.some(long), self.column_rule.scale)]

    def _certainly_kept(self, cells: Cells, scale: int) -> Mask:
        """A mask of the cells with at most `scale` digits after their last mark, or after a separator of thousands."""
        kept: Mask = (cells.non_digits >> np.uint64(63 - scale) != 0) | (cells.non_digits == 0)
        grouped = np.isin(cells.before_end(_GROUP + 1), self._separators)
        grouped &= cells.non_digits >> np.uint64(63 - _GROUP) == 1
        return (kept | grouped) & (cells.lengths <= LONGEST)

    @cached_property
    def _only_separators(self) -> bool:
        """Whether the transforms only remove separators and replace the decimal mark."""
        return all(TRANSFORMS[name].cleans or TRANSFORMS[name].decimal_mark for name in self.transforms)

    @cached_property
    def _separators(self) -> list[int]:
        """The separators of thousands that are one byte in ASCII."""
        return [ord(mark) for name in self.transforms for mark in TRANSFORMS[name].separators if mark.isascii()]

    @property
    def always_kept_bytes(self) -> int:
        """The column keeps a number of at most this many bytes; -1 if other faults are possible."""
        if not self._only_separators:
            return -1
        if isinstance(self.column_rule, FixedPoint):
            return self.column_rule.scale + 1
        return -1 if self.column_rule.scale >= 0 or self.column_rule.unsigned else self.column_rule.digits

    def judge(self, text: str) -> Verdict | None:
        """The verdict about the converted number. None for a text that is no number, which the server refuses."""
        plain = self._read(text)
        return None if plain is None else self.column_rule.judge(plain)

    @cached_property
    def _read(self) -> Callable[[str], str | None]:
        column = Column("", self.type, nullable=True, default=None, auto_increment=False, generated=False)
        return number_reader(self.transforms, column)

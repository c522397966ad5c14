"""Numbers in a spelling of their own, for a column of floating point: do their digits survive?"""

from dataclasses import dataclass

import numpy as np

from importer.engine.mapping.transforms import normalized_number
from importer.engine.schema.table import Column
from importer.engine.source.arrays import Offsets
from importer.engine.validation.cell_batch import Cells
from importer.engine.validation.types.numbers import FloatingPoint
from importer.engine.validation.verdict import Verdict


@dataclass(frozen=True)
class FormattedNumber:
    """A number that `transforms` read, and how the column `keeps` it."""

    keeps: FloatingPoint
    transforms: tuple[str, ...]

    @property
    def type(self) -> str:
        return self.keeps.type

    def unusual(self, cells: Cells) -> Offsets:
        """Cells with more bytes than digits that always survive; all of them where something else can go wrong."""
        return np.flatnonzero(cells.lengths > self.surely_kept)

    @property
    def surely_kept(self) -> int:
        """A number of no more bytes survives; -1 where something else can go wrong."""
        return -1 if self.keeps.scale >= 0 or self.keeps.unsigned else self.keeps.digits

    def judge(self, text: str) -> Verdict | None:
        """None for a text that is no such number: the server says so itself."""
        column = Column("", self.keeps.type, nullable=True, default=None, auto_increment=False, generated=False)
        plain = normalized_number(text, self.transforms, column)
        return None if plain is None else self.keeps.judge(plain)

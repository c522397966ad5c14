"""Numbers that transforms convert for a floating-point column: checks whether the column loses digits."""

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
    """Numbers that `transforms` convert, for a column with the rule `column_rule`."""

    column_rule: FloatingPoint
    transforms: tuple[str, ...]

    @property
    def type(self) -> str:
        return self.column_rule.type

    def unusual(self, cells: Cells) -> Offsets:
        """Cells with more bytes than the column always keeps digits; all cells if other faults are possible."""
        return np.flatnonzero(cells.lengths > self.always_kept_bytes)

    @property
    def always_kept_bytes(self) -> int:
        """The column keeps a number of at most this many bytes; -1 if other faults are possible."""
        return -1 if self.column_rule.scale >= 0 or self.column_rule.unsigned else self.column_rule.digits

    def judge(self, text: str) -> Verdict | None:
        """The verdict about the converted number. None for a text that is no number, which the server refuses."""
        column = Column("", self.type, nullable=True, default=None, auto_increment=False, generated=False)
        plain = normalized_number(text, self.transforms, column)
        return None if plain is None else self.column_rule.judge(plain)

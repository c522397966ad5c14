"""Texts that a transform without a pattern of its own converts before the column takes them."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from importer.engine.source.arrays import Offsets, np
from importer.engine.validation.cell_batch import Cells
from importer.engine.validation.verdict import ColumnRule, Verdict


@dataclass(frozen=True)
class ConvertedText:
    """The texts that `convert` gives, for a column with the rule `column_rule`."""

    of_bytes: ClassVar = False

    column_rule: ColumnRule
    convert: Callable[[str], str]

    @property
    def type(self) -> str:
        return self.column_rule.type

    def unusual(self, cells: Cells) -> Offsets:
        """All cells."""
        return np.arange(len(cells))

    def judge(self, text: str) -> Verdict | None:
        value: Any = self.convert(text)
        return self.column_rule.judge(value.encode() if getattr(self.column_rule, "of_bytes", False) else value)

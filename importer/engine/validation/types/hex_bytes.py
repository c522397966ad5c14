"""Hexadecimal digits for a column of a fixed number of bytes, which fills up shorter values."""

from dataclasses import dataclass

from importer.engine.source.arrays import Offsets, np
from importer.engine.validation.cell_batch import Cells
from importer.engine.validation.types.texts import Bytes
from importer.engine.validation.verdict import Verdict

# The transforms that read such digits.
HEX_DIGITS = ("hex", "uuid")
# The second byte of the prefix 0x.
_PREFIX = list(b"xX")


@dataclass(frozen=True)
class HexBytes:
    """Hexadecimal digits for a column with the rule `column_rule`. The mapping's expression refuses other texts."""

    column_rule: Bytes

    @property
    def type(self) -> str:
        return self.column_rule.type

    def unusual(self, cells: Cells) -> Offsets:
        """All cells but those with two digits for each byte of the column."""
        prefixed = np.isin(cells.page.view[cells.starts + 1], _PREFIX)
        return np.flatnonzero((cells.lengths != 2 * self.column_rule.most) | prefixed)

    def judge(self, text: str) -> Verdict | None:
        """The verdict about the bytes; None for a text that is no hexadecimal number, which the server refuses.

        A UUID has hyphens, and maybe braces around it.
        """
        digits = text[2:] if text[:2] in ("0x", "0X") else text.strip("{}").replace("-", "")
        try:
            value = bytes.fromhex(digits)
        except ValueError:
            return None
        return self.column_rule.judge(value) if len(value) <= self.column_rule.most else None

"""The trimming that a mapping asks for, as validation applies it before a value is checked."""

from collections.abc import Sequence
from dataclasses import dataclass

from importer.engine.mapping.transforms import BLANKS, TRANSFORMS
from importer.engine.source.arrays import Mask, np
from importer.engine.source.encodings import UTF8
from importer.engine.validation.cell_batch import Cells

_ASCII_BLANKS = b" \t"


@dataclass(frozen=True)
class Trimming:
    """Removes blanks (transforms.BLANKS) at the start or end of each value in this encoding."""

    at_start: bool
    at_end: bool
    encoding: str

    @classmethod
    def of(cls, transforms: Sequence[str], encoding: str) -> "Trimming | None":
        """The trimming among the transforms; None if there is none."""
        cleans = [each.in_python for name in transforms if (each := TRANSFORMS[name]).cleans and each.in_python]
        if not cleans:
            return None
        text = " a "
        for clean in cleans:
            text = clean(text)
        return cls(not text.startswith(" "), not text.endswith(" "), encoding)

    def apply(self, text: str) -> str:
        text = text.lstrip(BLANKS) if self.at_start else text
        return text.rstrip(BLANKS) if self.at_end else text

    def apply_to_bytes(self, value: bytes) -> bytes:
        """The value without blanks. Bytes that are invalid in the encoding stay."""
        text = value.decode(self.encoding, "surrogateescape")
        bare = self.apply(text)
        return value if len(bare) == len(text) else bare.encode(self.encoding, "surrogateescape")

    def may_change(self, cells: Cells) -> Mask:
        """A mask of the cells that may begin or end with a blank; no others do."""
        changed: Mask = np.zeros(len(cells), bool)
        if self.at_start:
            changed |= self._blank(0xC2)[cells.first]
        if self.at_end:
            changed |= self._blank(0xA0)[cells.last]
        return changed & (cells.lengths > 0)

    def _blank(self, no_break_byte: int) -> Mask:
        """By a byte: whether it may be part of a blank. In UTF-8 the no-break space is C2 A0."""
        table = np.zeros(256, bool)
        table[list(_ASCII_BLANKS)] = True
        table[no_break_byte : no_break_byte + 1 if self.encoding == UTF8 else 256] = True
        if self.encoding != UTF8:
            table[0x80:] = True
        return table

"""Rules for texts, bytes, ENUM and SET, BIT and geometries: which values a column stores unchanged."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from importer.engine.source.arrays import Mask, Offsets, np
from importer.engine.validation.cell_batch import Cells
from importer.engine.validation.verdict import (
    BAD_GEOMETRY,
    TRUNCATED,
    Verdict,
    mismatch,
    none_of,
    refused,
    rounded,
    too_long,
)

LOST_SPACES = "Spaces at the end of the value are left out."
OTHER_CASE = "The value differs in case or spaces from the member of {type} that is stored."
# Cells are compared with this many members at once; other members are looked up cell by cell.
MANY_MEMBERS = 64
_LONGER_IN_FILE = re.compile(rb"([^\0\r\n0-9A-Za-z])\1|\\")
# The characters that all servers count as white space at the end of a text.
WHITE = " \t\n\v\f\r"


@dataclass(frozen=True)
class Text:
    """CHAR and VARCHAR of `most` characters, and the TEXT types of `most` bytes."""

    type: str
    most: int
    fixed: bool = False

    def unusual(self, cells: Cells) -> Offsets:
        """The numbers of the cells to judge: those that may be too long, or end in spaces that CHAR strips."""
        unusual = np.flatnonzero(cells.lengths > self.most) if cells.longest > self.most else np.arange(0)
        if len(unusual):
            unusual = unusual[cells.some(unusual).characters() > self.most]
        if self.fixed:
            return np.union1d(unusual, np.flatnonzero((cells.last == ord(" ")) & (cells.lengths > 0)))
        return unusual

    @property
    def loss(self) -> Verdict:
        return rounded("spaces", LOST_SPACES)

    def loses(self, cells: Cells) -> Mask:
        """A mask of the cells that certainly lose trailing spaces and nothing else; faster than judging each."""
        result: Mask = (cells.last == ord(" ")) & (cells.lengths > 0) & (cells.lengths <= self.most) & self.fixed
        return result

    def keeps(self, size: int) -> bool:
        """Whether the column keeps every text of `size` bytes, since no character has less than one byte."""
        return size <= self.most and not self.fixed

    def judge(self, text: str) -> Verdict | None:
        return self.judge_pieces((text,))

    def judge_pieces(self, pieces: Iterable[str]) -> Verdict | None:
        """The verdict about a text in pieces."""
        size, last = 0, ""
        for piece in pieces:
            if piece[max(0, self.most - size) :].strip(WHITE):
                return too_long(self.type)
            size, last = size + len(piece), piece or last
        if size > self.most:
            # CHAR loses any number of trailing spaces silently.
            return rounded("spaces" if self.fixed else TRUNCATED, LOST_SPACES, noted=not self.fixed)
        return self.loss if self.fixed and last.endswith(" ") else None


@dataclass(frozen=True)
class Bytes:
    """BINARY, VARBINARY and the BLOB types, of `most` bytes."""

    of_bytes: ClassVar = True

    type: str
    most: int
    fixed: bool = False

    def unusual(self, cells: Cells) -> Offsets:
        """As Text.unusual. All shorter values of BINARY, which it pads with zero bytes; all cells of a block with
        doubled quotes or escapes, with which a value is longer in the file.
        """
        if self.fixed and _LONGER_IN_FILE.search(cells.page.data):
            return np.arange(len(cells))
        if self.fixed:
            return np.flatnonzero(cells.lengths != self.most)
        return np.flatnonzero(cells.lengths > self.most) if cells.longest > self.most else np.arange(0)

    def keeps(self, size: int) -> bool:
        """Whether the column keeps all values of `size` bytes."""
        return size <= self.most and not self.fixed

    def judge(self, value: bytes) -> Verdict | None:
        return self.judge_pieces((value,))

    def judge_pieces(self, pieces: Iterable[bytes]) -> Verdict | None:
        """The verdict about bytes in pieces."""
        size = sum(map(len, pieces))
        if size > self.most:
            return too_long(self.type)
        if self.fixed and size < self.most:
            return rounded("padding", f"Zero bytes are added to fill {self.type}.")
        return None


@dataclass(frozen=True)
class Members:
    """ENUM, and SET with `several`. A word must equal a member exactly; digits are not read as a position."""

    type: str
    members: tuple[str, ...]
    several: bool

    def unusual(self, cells: Cells) -> Offsets:
        """The numbers of the cells to judge: all that are no single member."""
        left = np.arange(len(cells))
        for member in self.members[:MANY_MEMBERS]:
            if not len(left):
                break
            left = left[~cells.some(left).equal(member.encode())]
        return left

    def judge(self, text: str) -> Verdict | None:
        words = text.split(",") if self.several else [text]
        if all(word in self.members for word in words) or (self.several and not text):
            return None
        if text.strip(WHITE).isdigit():
            return refused("position", f"The value is none of {self.type}; the server would take it for a position.")
        folded = {member.casefold() for member in self.members}
        if all(word.rstrip(" ").casefold() in folded for word in words):
            return rounded("spelling", OTHER_CASE.format(type=self.type))
        return none_of(self.type)


@dataclass(frozen=True)
class Bits:
    """BIT(n), which stores the bytes of the field unchanged."""

    of_bytes: ClassVar = True

    type: str
    bits: int

    def unusual(self, cells: Cells) -> Offsets:
        """All cells."""
        return np.arange(len(cells))

    def judge(self, value: bytes) -> Verdict | None:
        if not value:
            return refused("bit", f"The field is empty, and {self.type} would store 0 for it.")
        if value.isdigit():
            return refused(
                "bit", f"{self.type} takes bytes as they are: the digits would be stored as their characters."
            )
        if int.from_bytes(value) >= 2**self.bits:
            return mismatch(self.type, "1406")
        return None


@dataclass(frozen=True)
class Geometry:
    """The geometry types, which accept no text."""

    type: str

    def unusual(self, cells: Cells) -> Offsets:
        """All cells."""
        return np.arange(len(cells))

    def judge(self, _text: str) -> Verdict | None:
        return refused(BAD_GEOMETRY, f"{self.type} takes no text; load it into a text column and convert it there.")

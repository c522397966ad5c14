"""One field of the file and the column it goes into."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from importer.engine.exactness.cells import Cells
from importer.engine.exactness.formatted import Formatted
from importer.engine.exactness.kinds import Kind, kind_of
from importer.engine.exactness.numbers import FixedPoint, FloatingPoint
from importer.engine.exactness.texts import Text
from importer.engine.exactness.transformed import Transformed
from importer.engine.exactness.verdict import NULL_REFUSED, Verdict, refused


@dataclass(frozen=True)
class FieldCheck:
    """How one field is checked, for a column of this full type; "" leaves it to the server.

    `null_markers` become NULL, which only a `nullable` column takes. `datetime_format` and `transforms` are the
    mapping's.
    """

    column: str
    type: str = ""
    nullable: bool = True
    null_markers: tuple[str, ...] = ()
    datetime_format: str = ""
    transforms: tuple[str, ...] = ()


NULL = refused(NULL_REFUSED, "The value is NULL, which the column does not take.")
NULL_WORD = refused("NULL", "The unquoted word NULL would become SQL's NULL; quote it, or name it as a mark of NULL.")


@dataclass(frozen=True)
class Judge:
    """Decides about the cells of one field. `value` of a cell is None where the dialect itself says NULL."""

    check: FieldCheck
    kind: Kind | None
    markers: frozenset[bytes]
    decode: Callable[[bytes], str]

    @classmethod
    def of(cls, check: FieldCheck, *, mariadb: bool, encoding: str) -> "Judge":
        kind: Kind | None = kind_of(check.type, mariadb) if check.type else None
        if check.datetime_format:
            kind = Formatted(check.type, check.datetime_format) if check.type.lower() == "date" else None
        if isinstance(kind, FloatingPoint) and check.transforms:
            kind = Transformed(kind, check.transforms)
        markers = frozenset(marker.encode(encoding, "replace") for marker in check.null_markers)
        return cls(check, kind, markers, lambda value: value.decode(encoding, "backslashreplace"))

    @property
    def group(self) -> Any:
        """Fields with the same group can be narrowed down together."""
        return self.kind, self.markers, self.check.nullable

    def unusual(self, cells: Cells) -> Any:
        """The numbers of the cells that need to be judged."""
        unusual = self.kind.unusual(cells) if self.kind else np.arange(0)
        if self.check.nullable:
            return unusual[~self._marked(cells.some(unusual))] if self.markers and len(unusual) else unusual
        return np.union1d(unusual, np.flatnonzero(self._marked(cells))) if self.markers else unusual

    def losing(self, cells: Cells, numbers: Any) -> tuple[Any, Verdict | None]:
        """Of these cells, those with a loss that can be told without reading them one by one; and that loss."""
        if not len(numbers) or not isinstance(self.kind, FixedPoint | FloatingPoint):
            return numbers[:0], None
        return numbers[self.kind.loses(cells.some(numbers))], self.kind.loss

    def _marked(self, cells: Cells) -> Any:
        """A mask of the cells that are marks of NULL."""
        marked = np.zeros(len(cells), bool)
        for marker in self.markers:
            marked |= cells.equal(marker)
        return marked

    def verdict(self, value: bytes | None) -> Verdict | None:
        """What becomes of one value."""
        if value is None or value in self.markers:
            return None if self.check.nullable else NULL
        if self.kind is None or (isinstance(self.kind, Text) and self.kind.keeps(len(value))):
            return None
        return self.kind.judge(value if getattr(self.kind, "of_bytes", False) else self.decode(value))

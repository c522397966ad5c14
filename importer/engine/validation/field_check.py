"""The check of one field of the file against its column: decides about its cells."""

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from importer.engine.schema.column_types import column_type
from importer.engine.source import encodings
from importer.engine.source.arrays import Mask, Offsets, np
from importer.engine.source.records.large_values import PIECE, LargeValue
from importer.engine.validation.cell_batch import Cells
from importer.engine.validation.converted_rules import FieldCheck, converted_rule
from importer.engine.validation.trimming import Trimming
from importer.engine.validation.types.json_documents import Json, NeedsFullParse, judge_whole
from importer.engine.validation.types.texts import Bytes, Text
from importer.engine.validation.verdict import (
    BLANK,
    BLANK_FOR_NULL,
    NULL_REFUSED,
    ColumnRule,
    Level,
    LossyRule,
    Verdict,
    refused,
)

NULL = refused(NULL_REFUSED, "The value is NULL, which the column does not take.")
NULL_WORD = refused("NULL", "The unquoted word NULL would become SQL's NULL; quote it, or make it a NULL marker.")


@dataclass(frozen=True)
class CellRule:
    """Decides about the cells of one field. A value is None if it is NULL in the dialect.

    `markers`: the NULL markers, but for those that the value list replaces.
    """

    check: FieldCheck
    column_rule: ColumnRule | None
    markers: frozenset[bytes]
    encoding: str
    trimming: Trimming | None = None

    @classmethod
    def of(cls, check: FieldCheck, *, mariadb: bool, encoding: str, utc: bool = True) -> "CellRule":
        trimming = Trimming.of(check.transforms, encoding)
        kept = {*check.null_markers}.difference(old for old, _ in check.values)
        markers = frozenset(marker.encode(encoding, "replace") for marker in kept)
        return cls(check, converted_rule(check, trimming, mariadb=mariadb, utc=utc), markers, encoding, trimming)

    @cached_property
    def replacements(self) -> dict[bytes, str]:
        """The new text for each text of the value list that a file in this encoding can have."""
        replaced = {}
        for old, new in self.check.mapping.replacements.items() if self.check.values else ():
            with suppress(UnicodeEncodeError):
                replaced[old.encode(self.encoding)] = new
        return replaced

    @cached_property
    def _replaced(self) -> dict[bytes, Verdict | None]:
        """The verdict about what each text of the value list is replaced by."""
        if not self.replacements:
            return {}
        markers = frozenset(marker.encode() for marker in self.check.null_markers)
        trimming = self.trimming and replace(self.trimming, encoding=encodings.UTF8)
        new = CellRule(replace(self.check, values=()), self.column_rule, markers, encodings.UTF8, trimming)
        return {old: new.verdict(text.encode()) for old, text in self.replacements.items()}

    @cached_property
    def misread(self) -> tuple[bytes, ...]:
        """The texts of the value list whose replacement is no value that the column simply stores."""
        return tuple(old for old, verdict in self._replaced.items() if verdict)

    def decode(self, value: bytes) -> str:
        """The value as a readable text; a byte that is invalid in the encoding becomes an escape such as \\xE9."""
        return encodings.readable_text(value, self.encoding)

    @property
    def group(self) -> Any:
        """Fields with the same group can be narrowed down together."""
        return self.column_rule, self.markers, self.check.nullable, self.trimming, self.check.values

    def unusual(self, cells: Cells) -> Offsets:
        """The numbers of the cells that need to be judged."""
        unusual = self.column_rule.unusual(cells) if self.column_rule else np.arange(0)
        if self.misread:
            unusual = np.union1d(unusual, np.flatnonzero(_equal_one_of(self.misread, cells)))
        if self.trimming and (self.misread or not isinstance(self.column_rule, Text | None)):
            unusual = np.union1d(unusual, np.flatnonzero(self.trimming.may_change(cells)))
        if self.check.nullable:
            return unusual[~self._marked(cells.some(unusual))] if self.markers and len(unusual) else unusual
        return np.union1d(unusual, np.flatnonzero(self._marked(cells))) if self.markers else unusual

    def losing(self, cells: Cells, numbers: Offsets) -> tuple[Offsets, Verdict | None]:
        """Of the cells with these numbers, those with a loss that is recognized at once, and the verdict about them.

        The verdict is None if the column's rule recognizes none.
        """
        if not len(numbers) or not isinstance(self.column_rule, LossyRule):
            return numbers[:0], None
        some = cells.some(numbers)
        losing = self.column_rule.loses(some) & ~self._marked(some)
        if self.trimming:
            losing &= ~self.trimming.may_change(some)
        if self.replacements:
            losing &= ~_equal_one_of(self.replacements, some)
        return numbers[losing], self.column_rule.loss

    def _marked(self, cells: Cells) -> Mask:
        """A mask of the cells that are NULL markers."""
        return _equal_one_of(self.markers, cells)

    def verdict(self, value: bytes | None) -> Verdict | None:
        """The verdict about one value; None if the column stores it unchanged."""
        if value is not None and self.trimming:
            value = self.trimming.apply_to_bytes(value)
        if value in self._replaced:
            return self._replaced[value]
        if value is None or value in self.markers:
            return None if self.check.nullable else NULL
        if self.column_rule is None or (isinstance(self.column_rule, Text) and self.column_rule.keeps(len(value))):
            return None
        verdict = self.column_rule.judge(value if getattr(self.column_rule, "of_bytes", False) else self.decode(value))
        if value or not verdict or verdict.level is not Level.REFUSED or not column_type(self.check.type).is_typed:
            return verdict
        return refused(verdict.code, BLANK if self.check.nullable else BLANK_FOR_NULL)

    def verdict_of_large(self, value: LargeValue | None) -> Verdict | None:
        """As verdict(), for a value in a large record.

        For text, bytes and JSON it needs the memory of one piece; JSON that needs a full parse takes several times its
        size. For numbers, times and words, a value of more than a piece is refused by its beginning if that is wrong,
        since no continuation makes it valid.
        """
        if value is None or value.size <= PIECE or self.trimming:
            return self.verdict(value.whole() if value else None)
        if self.column_rule is None:
            return None
        if isinstance(self.column_rule, Text | Bytes) and self.column_rule.keeps(value.size):
            return None
        if isinstance(self.column_rule, Text):
            return self.column_rule.judge_pieces(value.texts(self.encoding))
        if isinstance(self.column_rule, Bytes):
            return self.column_rule.judge_pieces(value.pieces())
        if isinstance(self.column_rule, Json):
            return self._of_large_json(self.column_rule, value)
        first = self.verdict(value.head(PIECE))
        return first if first and first.level is Level.REFUSED else self.verdict(value.whole())

    def _of_large_json(self, rule: Json, value: LargeValue) -> Verdict | None:
        try:
            return rule.judge_pieces(value.texts(self.encoding))
        except NeedsFullParse:
            return judge_whole(self.decode(value.whole()))


def _equal_one_of(texts: Iterable[bytes], cells: Cells) -> Mask:
    """A mask of the cells that equal one of the texts."""
    equal = np.zeros(len(cells), bool)
    for text in texts:
        equal |= cells.equal(text)
    return equal

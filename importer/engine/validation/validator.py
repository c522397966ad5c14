"""Goes through a block's values: first past the usual ones, then many at once where its records can be laid out, one by
one where they cannot or are few.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import chain, islice
from typing import Any, NamedTuple

import numpy as np

from importer.engine.source.arrays import Offsets
from importer.engine.source.dialect import Dialect
from importer.engine.source.records.blocks import BLOCK_BYTES, Block
from importer.engine.source.records.boundary.boundaries import LineEnds
from importer.engine.source.records.fields import fields, values
from importer.engine.source.records.oversized_values import large_values
from importer.engine.source.records.row_error import RowError
from importer.engine.validation.cell_batch import Cells
from importer.engine.validation.fast_path import FastPath, RecordAt
from importer.engine.validation.field_check import NULL_WORD, CellRule
from importer.engine.validation.findings import BlockFindings, FindingsBuilder
from importer.engine.validation.record_layout import Layout, lay_out
from importer.engine.validation.verdict import TOO_FEW, TOO_MANY, Verdict

# A block with no more unusual cells than this has them judged during the scan; one with more is suspicious unjudged.
FEW = 1000
# So many unusual records of a block are read one by one. More take longer than laying out all of its cells does.
FEW_RECORDS = 100
# Unusual cells whose texts are taken out at once.
PORTION = 10_000
NULL = b"NULL"


class Validated(NamedTuple):
    """What becomes of one value, None for NULL: the numbers of its record in the block and of its field."""

    record: int
    field: int
    value: bytes | None
    verdict: Verdict | None


@dataclass(frozen=True)
class Validator:
    """The rules of a file's fields, in their order. `reject_rounding`: what loses something is at fault."""

    dialect: Dialect
    rules: tuple[CellRule, ...]
    reject_rounding: bool

    def suspicious(self, block: Block) -> bool:
        """Whether examine() may find anything: as Exactness.suspicious."""
        odd = self._odd(block, FEW_RECORDS)
        if odd is not None:
            return self._any_fault(block, odd)
        layout = lay_out(block, self.dialect, len(self.rules)) if block.data else None
        if layout is None or layout.counts:
            return True
        judged = islice(self._judged(layout, FindingsBuilder(True)), FEW + 1)
        return any(each.verdict or number == FEW for number, each in enumerate(judged))

    def examine(self, block: Block) -> BlockFindings:
        """Every fault and notice of the block: as Exactness.examine."""
        findings = FindingsBuilder(self.reject_rounding)
        if block.size > BLOCK_BYTES:  # a single record, which every copy of its values would double
            self._examine_large(block.data, findings)
        elif (odd := self._odd(block, FEW_RECORDS)) is not None:
            self._examine_each(block, odd, findings)
        elif layout := lay_out(block, self.dialect, len(self.rules)):
            self._examine_layout(layout, findings)
        else:
            odd = self._odd(block, block.size)
            self._examine_apart(block, _records(block) if odd is None else odd, findings)
        return findings.build()

    def examine_one_by_one(self, block: Block) -> BlockFindings:
        """The same as examine(), slowly: what that is tested against."""
        findings = FindingsBuilder(self.reject_rounding)
        self._examine_each(block, _records(block), findings)
        return findings.build()

    def _odd(self, block: Block, most: int) -> list[RecordAt] | None:
        """The records of the block that are not as usual; None if there are more than `most`, or nobody knows."""
        if not self.fast_path or not block.data or block.size > BLOCK_BYTES:
            return None
        return self.fast_path.unusual_records(block, most)

    def _any_fault(self, block: Block, records: Iterable[RecordAt]) -> bool:
        findings = FindingsBuilder(self.reject_rounding)
        for each in records:
            self._examine_each(block, (each,), findings)
            if findings.faults or findings.losses:
                return True
        return False

    def _examine_each(self, block: Block, records: Iterable[RecordAt], findings: FindingsBuilder) -> None:
        for each in records:
            self._examine_record(block.data[each.start : each.end], each.number, findings)

    def _examine_layout(self, layout: Layout, findings: FindingsBuilder, numbers: list[int] | None = None) -> None:
        """`numbers` are the records' own, where the layout's are others."""
        for record, count in layout.counts.items():
            findings.refuse(numbers[record] if numbers else record, _wrong_count(count, len(self.rules)))
        for record, field, value, verdict in self._judged(layout, findings, numbers):
            if verdict:
                self._add(findings, numbers[record] if numbers else record, field, value, verdict)

    def _examine_apart(self, block: Block, records: Iterable[RecordAt], findings: FindingsBuilder) -> None:
        """Those with a quote or an escape one by one, the others together."""
        marks = [mark.encode() for mark in (self.dialect.quote, self.dialect.escape) if mark]
        plain: list[RecordAt] = []
        for each in records:
            marked = any(block.data.find(mark, each.start, each.end) >= 0 for mark in marks)
            if marked or len(self.dialect.delimiter) > 1:
                self._examine_each(block, (each,), findings)
            else:
                plain.append(each)
        mark = self.dialect.line_end[-1].encode()
        data = b"".join([block.data[each.start : each.end] for each in plain])
        together = Block(block.offset, block.first_line, len(data), len(plain), LineEnds(data, len(data), mark), data)
        layout = lay_out(together, self.dialect, len(self.rules)) if data else None
        if layout:
            self._examine_layout(layout, findings, [each.number for each in plain])
        else:
            self._examine_each(block, plain, findings)

    def _examine_record(self, raw: bytes, record: int, findings: FindingsBuilder) -> None:
        found = values(raw, self.dialect)
        if len(found) != len(self.rules):
            findings.refuse(record, _wrong_count(len(found), len(self.rules)))
            return
        for field, (value, rule) in enumerate(zip(found, self.rules, strict=True)):
            is_word = value == NULL and self._takes_for_null(raw, rule)
            if verdict := rule.verdict(value) or (NULL_WORD if is_word else None):
                self._add(findings, record, field, value, verdict)

    def _examine_large(self, raw: bytes, findings: FindingsBuilder) -> None:
        """The block's only record, which is larger than a block should be."""
        found, count = [], 0
        for count, value in enumerate(large_values(raw, self.dialect), start=1):
            rule = self.rules[count - 1] if count <= len(self.rules) else None
            if not rule:
                continue
            text = None if value is None else value.head(len(NULL) + 1)
            is_word = text == NULL and self._takes_for_null(raw, rule)
            if verdict := rule.verdict_of_large(value) or (NULL_WORD if is_word else None):
                found.append((count - 1, text, verdict))
        if count != len(self.rules):
            findings.refuse(0, _wrong_count(count, len(self.rules)))
            return
        for field, text, verdict in found:
            self._add(findings, 0, field, text, verdict)

    def _takes_for_null(self, record: bytes, rule: CellRule) -> bool:
        """Whether the server makes NULL of a value NULL in the record, because no quotes are around it."""
        quote = self.dialect.quote.encode()
        told = bool(self.dialect.escape and quote) and rule.check.column and b"NULL" not in rule.markers
        return bool(told) and quote + b"NULL" + quote not in record

    def _add(self, findings: FindingsBuilder, record: int, field: int, value: bytes | None, verdict: Verdict) -> None:
        findings.add(record, field, self.rules[field].check.column, verdict, null=value is None)

    def _judged(
        self, layout: Layout, findings: FindingsBuilder, numbers: list[int] | None = None
    ) -> Iterator[Validated]:
        """Each unusual cell; those with a loss that can be told at once go straight into the findings."""
        for group in self._groups:
            cells = layout.cells(group)
            unusual = self.rules[group[0]].unusual(cells)
            if not findings.reject_rounding:
                unusual = self._without_losing(layout, group, cells, unusual, findings, numbers)
            if len(unusual):
                yield from self._judged_cells(layout, group, cells, unusual)
        if self.dialect.escape and self.dialect.quote:
            yield from self._null_words(layout)

    def _without_losing(
        self,
        layout: Layout,
        group: list[int],
        cells: Cells,
        unusual: Offsets,
        findings: FindingsBuilder,
        numbers: list[int] | None,
    ) -> Offsets:
        losing, verdict = self.rules[group[0]].losing(cells, unusual)
        if verdict is None or not len(losing):
            return unusual
        places, within = layout.places(losing)
        records = np.asarray(numbers)[places] if numbers else np.asarray(places)
        for number, field in enumerate(group):
            findings.add_losses(self.rules[field].check.column, verdict, records[np.asarray(within) == number])
        return np.setdiff1d(unusual, losing, assume_unique=True)

    def _judged_cells(self, layout: Layout, group: list[int], cells: Cells, unusual: Offsets) -> Iterator[Validated]:
        known: list[dict[bytes, tuple[bytes | None, Verdict | None]]] = [{} for _ in group]
        portions = (unusual[low : low + PORTION] for low in range(0, len(unusual), PORTION))
        places = (zip(*layout.places(each), cells.texts(each), each.tolist(), strict=True) for each in portions)
        for record, within, raw, number in chain.from_iterable(places):
            found = known[within].get(raw)
            if not raw and self.dialect.unquoted_empty_is_null:
                # NULL or not: the quotes tell, which are gone.
                bare = layout.page.view[cells.ends[number]] != ord(self.dialect.quote)
                said = None if bare else raw
                yield Validated(record, group[within], said, self.rules[group[within]].verdict(said))
                continue
            if found is None:
                value = self._value(raw, quoted=layout.quoted)
                found = known[within][raw] = value, self.rules[group[within]].verdict(value)
            yield Validated(record, group[within], *found)

    def _value(self, raw: bytes, *, quoted: bool) -> bytes | None:
        """The value of a cell whose quotes are off."""
        dialect = self.dialect
        if dialect.escape and dialect.escape.encode() in raw:
            return None if raw == rb"\N" else fields(raw, dialect)[0]
        quote = dialect.quote.encode()
        return raw.replace(quote * 2, quote) if quoted and quote in raw else raw

    def _null_words(self, layout: Layout) -> Iterator[Validated]:
        """Cells with the unquoted word NULL, which the server takes for NULL: beside an escape we cannot tell it."""
        if b"NULL" not in layout.page.data:
            return
        fields_ = [n for n, each in enumerate(self.rules) if each.check.column and b"NULL" not in each.markers]
        for field in fields_:
            cells = layout.cells([field])
            bare = cells.equal(b"NULL") & (layout.page.view[cells.starts - 1] != ord(self.dialect.quote))
            for record in layout.places(bare.nonzero()[0])[0]:
                yield Validated(record, field, b"NULL", NULL_WORD)

    @cached_property
    def fast_path(self) -> FastPath | None:
        """What knows a block of usual values at once; None where nothing does."""
        return FastPath.of(self.dialect, self.rules)

    @cached_property
    def _groups(self) -> list[list[int]]:
        """The numbers of the fields that are checked, those together that are checked in the same way."""
        groups: dict[Any, list[int]] = {}
        for field, rule in enumerate(self.rules):
            if rule.column_rule or (rule.markers and not rule.check.nullable):
                groups.setdefault(rule.group, []).append(field)
        return list(groups.values())


def _records(block: Block) -> list[RecordAt]:
    """All of them."""
    ends = block.ends.listed().tolist()
    return [RecordAt(number, *bounds) for number, bounds in enumerate(zip([0, *ends], ends, strict=False))]


@lru_cache
def _wrong_count(count: int, wanted: int) -> RowError:
    plural = "" if count == 1 else "s"
    return RowError(TOO_FEW if count < wanted else TOO_MANY, f"The row has {count} field{plural} instead of {wanted}.")

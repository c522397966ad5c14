"""Examines the values of a block.

The fast path skips usual records. The others are examined many at once if the block has a layout, and one by one if it
has none or if they are few.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import chain, islice
from typing import Any, NamedTuple

from importer.engine.source.arrays import Offsets, np
from importer.engine.source.dialect import Dialect
from importer.engine.source.records.blocks import BLOCK_BYTES, Block
from importer.engine.source.records.boundary.boundaries import LineEnds
from importer.engine.source.records.escaped_quotes import unescaped_block
from importer.engine.source.records.fields import fields, values
from importer.engine.source.records.large_values import large_values
from importer.engine.source.records.row_error import RowError
from importer.engine.validation.cell_batch import Cells
from importer.engine.validation.fast_path import FastPath, RecordAt
from importer.engine.validation.field_check import NULL_WORD, CellRule
from importer.engine.validation.findings import BlockFindings, FindingsBuilder
from importer.engine.validation.record_layout import Layout, lay_out
from importer.engine.validation.verdict import TOO_FEW, TOO_MANY, Verdict

# The scan decides about the unusual cells of a block if there are at most this many; a block with more is suspicious.
FEW = 1000
# Up to this many unusual records of a block are read one by one. For more, laying out all cells is faster.
FEW_RECORDS = 100
# The number of unusual cells whose texts are copied at once.
PORTION = 10_000
NULL = b"NULL"


class Validated(NamedTuple):
    """One examined value, None for NULL, with the numbers of its record in the block and of its field."""

    record: int
    field: int
    value: bytes | None
    verdict: Verdict | None


@dataclass(frozen=True)
class Validator:
    """The rules of a file's fields, in their order. `reject_rounding`: a lossy value is a fault."""

    dialect: Dialect
    rules: tuple[CellRule, ...]
    reject_rounding: bool

    def suspicious(self, block: Block) -> bool:
        """Whether examine() may find a fault or notice, as ValidationRules.suspicious()."""
        if plain := unescaped_block(block, self.dialect):
            return self._unescaped.suspicious(plain)
        unusual = self._unusual_records(block, FEW_RECORDS)
        if unusual is not None:
            return self._any_fault(block, unusual)
        layout = lay_out(block, self.dialect, len(self.rules)) if block.data else None
        if layout is None or layout.counts:
            return True
        judged = islice(self._judged(layout, FindingsBuilder(True)), FEW + 1)
        return any(each.verdict or number == FEW for number, each in enumerate(judged))

    def is_clean(self, block: Block) -> bool:
        """Whether examine() certainly finds nothing. Fast: a block with many unusual values counts as not clean."""
        if not self.fast_path:
            return not (block.size and self.suspicious(block))
        unusual = self._unusual_records(block, FEW_RECORDS)
        return unusual is not None and not self._any_fault(block, unusual)

    def examine(self, block: Block) -> BlockFindings:
        """Find every fault and notice of the block, as ValidationRules.examine()."""
        if plain := unescaped_block(block, self.dialect):
            return self._unescaped.examine(plain)
        findings = FindingsBuilder(self.reject_rounding)
        if block.size > BLOCK_BYTES:  # A single record; each copy of its values would double the memory.
            self._examine_large(block.data, findings)
        elif (unusual := self._unusual_records(block, FEW_RECORDS)) is not None:
            self._examine_each(block, unusual, findings)
        elif layout := lay_out(block, self.dialect, len(self.rules)):
            self._examine_layout(layout, findings)
        else:
            unusual = self._unusual_records(block, block.size)
            self._examine_apart(block, _records(block) if unusual is None else unusual, findings)
        return findings.build()

    def examine_one_by_one(self, block: Block) -> BlockFindings:
        """As examine(), but slowly and value by value: the reference for tests of examine()."""
        findings = FindingsBuilder(self.reject_rounding)
        self._examine_each(block, _records(block), findings)
        return findings.build()

    def _unusual_records(self, block: Block, most: int) -> list[RecordAt] | None:
        """The unusual records of the block; None if there are more than `most`, or if no fast path applies."""
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
        """Examine the records of a layout. `numbers`: their numbers in the block, by their numbers in the layout."""
        for record, count in layout.counts.items():
            findings.refuse(numbers[record] if numbers else record, _wrong_count(count, len(self.rules)))
        for record, field, value, verdict in self._judged(layout, findings, numbers):
            if verdict:
                self._add(findings, numbers[record] if numbers else record, field, value, verdict)

    def _examine_apart(self, block: Block, records: Iterable[RecordAt], findings: FindingsBuilder) -> None:
        """Examine records with a quote or an escape one by one, and the others together."""
        plain: list[RecordAt] = []
        for each in records:
            marked = any(block.data.find(mark, each.start, each.end) >= 0 for mark in self.dialect.marks)
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
        fields_ = values(raw, self.dialect)
        if len(fields_) != len(self.rules):
            findings.refuse(record, _wrong_count(len(fields_), len(self.rules)))
            return
        for field, (value, rule) in enumerate(zip(fields_, self.rules, strict=True)):
            is_word = value == NULL and self._is_null_word(raw, rule)
            if verdict := rule.verdict(value) or (NULL_WORD if is_word else None):
                self._add(findings, record, field, value, verdict)

    def _examine_large(self, raw: bytes, findings: FindingsBuilder) -> None:
        """Examine the only record of a block of more than BLOCK_BYTES."""
        verdicts, count = [], 0
        for count, value in enumerate(large_values(raw, self.dialect), start=1):
            rule = self.rules[count - 1] if count <= len(self.rules) else None
            if not rule:
                continue
            text = None if value is None else value.head(len(NULL) + 1)
            is_word = text == NULL and self._is_null_word(raw, rule)
            if verdict := rule.verdict_of_large(value) or (NULL_WORD if is_word else None):
                verdicts.append((count - 1, text, verdict))
        if count != len(self.rules):
            findings.refuse(0, _wrong_count(count, len(self.rules)))
            return
        for field, text, verdict in verdicts:
            self._add(findings, 0, field, text, verdict)

    def _is_null_word(self, record: bytes, rule: CellRule) -> bool:
        """Whether the server converts the text NULL in the record to NULL, because it is not quoted."""
        quote = self.dialect.quote.encode()
        converts = bool(self.dialect.escapes_all and quote) and rule.check.column and b"NULL" not in rule.markers
        return bool(converts) and quote + b"NULL" + quote not in record

    def _add(self, findings: FindingsBuilder, record: int, field: int, value: bytes | None, verdict: Verdict) -> None:
        findings.add(record, field, self.rules[field].check.column, verdict, null=value is None)

    def _judged(
        self, layout: Layout, findings: FindingsBuilder, numbers: list[int] | None = None
    ) -> Iterator[Validated]:
        """Each unusual cell with its verdict. Cells with a loss that is recognized at once go into the findings."""
        for group in self._groups:
            cells = layout.cells(group)
            unusual = self.rules[group[0]].unusual(cells)
            if not findings.reject_rounding:
                unusual = self._without_losing(layout, group, cells, unusual, findings, numbers)
            if len(unusual):
                yield from self._judged_cells(layout, group, cells, unusual)
        if self.dialect.escapes_all and self.dialect.quote:
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
            decided = known[within].get(raw)
            if not raw and self.dialect.unquoted_empty_is_null:
                # The cell is without its quotes; only an unquoted one is NULL.
                bare = layout.page.view[cells.ends[number]] != ord(self.dialect.quote)
                empty = None if bare else raw
                yield Validated(record, group[within], empty, self.rules[group[within]].verdict(empty))
                continue
            if decided is None:
                value = self._value(raw, quoted=layout.quoted)
                decided = known[within][raw] = value, self.rules[group[within]].verdict(value)
            yield Validated(record, group[within], *decided)

    def _value(self, raw: bytes, *, quoted: bool) -> bytes | None:
        """The value of a cell without its quotes."""
        dialect = self.dialect
        if dialect.escapes_all and dialect.escape_bytes in raw:
            return None if raw == rb"\N" else fields(raw, dialect)[0]
        quote = dialect.quote.encode()
        return raw.replace(quote * 2, quote) if quoted and quote in raw else raw

    def _null_words(self, layout: Layout) -> Iterator[Validated]:
        """Cells with the unquoted word NULL, which the server converts to NULL in a dialect with quote and escape."""
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
        """The fast path for these rules; None if there is none."""
        return FastPath.of(self.dialect, self.rules)

    @cached_property
    def _unescaped(self) -> "Validator":
        """The same rules for unescaped_block()."""
        return replace(self, dialect=self.dialect.unescaped)

    @cached_property
    def _groups(self) -> list[list[int]]:
        """The numbers of the fields that are checked, grouped by equal rules."""
        groups: dict[Any, list[int]] = {}
        for field, rule in enumerate(self.rules):
            if rule.column_rule or rule.misread or (rule.markers and not rule.check.nullable):
                groups.setdefault(rule.group, []).append(field)
        return list(groups.values())


def _records(block: Block) -> list[RecordAt]:
    ends = block.ends.as_array().tolist()
    return [RecordAt(number, *bounds) for number, bounds in enumerate(zip([0, *ends], ends, strict=False))]


@lru_cache
def _wrong_count(count: int, wanted: int) -> RowError:
    plural = "" if count == 1 else "s"
    return RowError(TOO_FEW if count < wanted else TOO_MANY, f"The row has {count} field{plural} instead of {wanted}.")

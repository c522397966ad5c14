"""What the server would change in silence: found in the file's bytes, before they are sent.

LOAD DATA stores 2 for `1.5` in an INT, 2024 for the year 24, `abc` for `abc  ` in a CHAR, and says nothing (facts.md).
An Exactness knows, for each field of the file, what the column it goes into keeps as it is. It narrows the cells of a
block down to the unusual ones, many at once (cells.py, layout.py), and then decides about each of those by its text
(numbers.py, times.py, texts.py). What the server refuses anyway is found, too, so that it need not be sent.
"""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import islice
from typing import Any

from importer.engine.dialect import Dialect
from importer.engine.exactness.checks import NULL_WORD, FieldCheck, Judge
from importer.engine.exactness.examination import Examination, Findings
from importer.engine.exactness.layout import Layout, lay_out
from importer.engine.exactness.verdict import TOO_FEW, TOO_MANY, Verdict
from importer.engine.faults import Fault
from importer.engine.mapping import ColumnMapping
from importer.engine.records import fields, records
from importer.engine.scanner import Block
from importer.engine.table import Table

__all__ = ["Exactness", "Examination", "FieldCheck"]

# A block with no more unusual cells than this has them judged during the scan; one with more is suspicious unjudged.
FEW = 1000


@dataclass(frozen=True)
class Exactness:
    """The checks of one import, one for each field of the file. `reject_rounding`: a notice is a fault."""

    dialect: Dialect
    checks: tuple[FieldCheck, ...]
    mariadb: bool
    reject_rounding: bool = False

    @classmethod
    def of(
        cls, dialect: Dialect, mapping: Sequence[ColumnMapping], table: Table, *, mariadb: bool, rounding: str
    ) -> "Exactness":
        """The checks for a file in this dialect that goes into the table. `rounding` is Options.rounding."""
        return cls(dialect, tuple(_check(each, table) for each in mapping), mariadb, rounding == "reject")

    def suspicious(self, block: Block) -> bool:
        """Whether examine() may find anything in the block. Says no only where it is certain; fast."""
        layout = lay_out(block, self.dialect, len(self.checks)) if block.data else None
        if layout is None or layout.counts:
            return True
        judged = islice(self._judged(layout), FEW + 1)
        return any(verdict or number == FEW for number, (_, _, _, verdict) in enumerate(judged))

    def examine(self, block: Block) -> Examination:
        """Every fault and notice of the block's records; `block.data` must be there, even for a large record."""
        findings = Findings(self.reject_rounding)
        layout = lay_out(block, self.dialect, len(self.checks))
        if layout is None:
            self._examine_one_by_one(block, findings)
            return findings.examination()
        for record, count in layout.counts.items():
            findings.faults[record] = -1, _wrong_count(count, len(self.checks))
        for record, position, value, verdict in self._judged(layout):
            if verdict:
                judge = self._judges[position]
                findings.add(
                    record, position, judge.check.column, judge.decode(b"NULL" if value is None else value), verdict
                )
        return findings.examination()

    def _judged(self, layout: Layout) -> Iterator[tuple[int, int, bytes | None, Verdict | None]]:
        """Each unusual cell: the record's and the field's number, the value, and what becomes of it."""
        for columns in self._groups:
            cells = layout.cells(columns)
            unusual = self._judges[columns[0]].unusual(cells)
            if not len(unusual):
                continue
            known: list[dict[bytes, Any]] = [{} for _ in columns]
            records_ = layout.record(unusual // len(columns)).tolist()
            for record, within, raw in zip(
                records_, (unusual % len(columns)).tolist(), cells.texts(unusual), strict=True
            ):
                found = known[within].get(raw)
                if found is None:
                    found = known[within][raw] = self._decided(columns[within], raw, layout)
                yield record, columns[within], *found
        if self.dialect.escape and self.dialect.quote:
            yield from self._null_words(layout)

    def _null_words(self, layout: Layout) -> Iterator[tuple[int, int, bytes | None, Verdict | None]]:
        """Cells with the unquoted word NULL, which the server takes for NULL: beside an escape we cannot tell it."""
        if b"NULL" not in layout.data:
            return
        columns = [n for n, each in enumerate(self._judges) if each.check.column and b"NULL" not in each.markers]
        for position in columns:
            cells = layout.cells([position])
            bare = cells.equal(b"NULL") & (cells.view[cells.starts - 1] != ord(self.dialect.quote))
            for record in layout.record(bare.nonzero()[0]).tolist():
                yield record, position, b"NULL", NULL_WORD

    def _decided(self, position: int, raw: bytes, layout: Layout) -> tuple[bytes | None, Verdict | None]:
        value = self._value(raw, quoted=layout.quoted)
        return value, self._judges[position].verdict(value)

    def _value(self, raw: bytes, *, quoted: bool) -> bytes | None:
        """The value of a cell whose quotes are off."""
        dialect = self.dialect
        if dialect.escape and dialect.escape.encode() in raw:
            return None if raw == rb"\N" else fields(raw, dialect)[0]
        quote = dialect.quote.encode()
        return raw.replace(quote * 2, quote) if quoted and quote in raw else raw

    def _examine_one_by_one(self, block: Block, findings: Findings) -> None:
        for number, record in enumerate(records(block.data[: block.size], self.dialect)):
            values = fields(block.data[record.start : record.end], self.dialect)
            if len(values) != len(self.checks):
                findings.faults[number] = -1, _wrong_count(len(values), len(self.checks))
                continue
            for position, (value, judge) in enumerate(zip(values, self._judges, strict=True)):
                said = None if self.dialect.escape and value == rb"\N" else value
                verdict = judge.verdict(said)
                if verdict:
                    findings.add(number, position, judge.check.column, judge.decode(value), verdict)

    @cached_property
    def _judges(self) -> list[Judge]:
        return [Judge.of(check, mariadb=self.mariadb, encoding=self.dialect.encoding) for check in self.checks]

    @cached_property
    def _groups(self) -> list[list[int]]:
        """The numbers of the fields that are checked, those together that are checked in the same way."""
        groups: dict[Any, list[int]] = {}
        for position, judge in enumerate(self._judges):
            if judge.kind or judge.group[1]:
                groups.setdefault(judge.group, []).append(position)
        return list(groups.values())

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> "Exactness":
        lists = ("null_markers", "transforms")
        checks = tuple(
            FieldCheck(**{**each, **{name: tuple(each[name]) for name in lists}}) for each in values["checks"]
        )
        return cls(**{**values, "dialect": Dialect(**values["dialect"]), "checks": checks})


def _check(mapping: ColumnMapping, table: Table) -> FieldCheck:
    if not mapping.column:
        return FieldCheck("")
    column = table.column(mapping.column)
    nullable = column.nullable or column.auto_increment
    if mapping.transforms:
        # Its expression refuses what the column would change, all but the digits of floating point.
        floating = column.kind in ("float", "double")
        names = mapping.transforms if floating else ()
        return FieldCheck(column.name, column.type if floating else "", nullable, mapping.null_markers, "", names)
    return FieldCheck(column.name, column.type, nullable, mapping.null_markers, mapping.datetime_format)


def _wrong_count(count: int, wanted: int) -> Fault:
    plural = "" if count == 1 else "s"
    return Fault(TOO_FEW if count < wanted else TOO_MANY, f"The row has {count} field{plural} instead of {wanted}.")

"""Finds the values that the mapping's format or transform cannot read, before a server is asked.

An import leaves them to the server, whose expression refuses them. The page of a new import counts them before that.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from importer.engine.mapping.date_formats import format_words, is_moment
from importer.engine.mapping.transforms import TRANSFORMS
from importer.engine.schema.table import Column
from importer.engine.source.dialect import Dialect
from importer.engine.source.records.blocks import Block
from importer.engine.source.records.fields import values
from importer.engine.source.records.row_error import RowError
from importer.engine.validation.converted_rules import FieldCheck
from importer.engine.validation.field_check import CellRule
from importer.engine.validation.record_layout import lay_out
from importer.engine.validation.verdict import NOT_A_VALUE


@dataclass(frozen=True)
class Conversion:
    """The conversion of the field at the position `number` (from 0): `reads` says whether it takes a text."""

    number: int
    rule: CellRule
    reads: Callable[[str], bool]
    fault: RowError

    def takes(self, raw: bytes | None) -> bool:
        """Whether the value is read, or is NULL, about which the other rules decide."""
        if raw is None:
            return True
        value = self.rule.trimming.apply_to_bytes(raw) if self.rule.trimming else raw
        if (new := self.rule.replacements.get(value)) is not None:
            return new in self.rule.check.null_markers or self.reads(new)
        return value in self.rule.markers or self.reads(self.rule.decode(value))


def conversions(rules: tuple[CellRule, ...]) -> tuple[Conversion, ...]:
    """The conversions among the rules of a file's fields that do not take every text."""
    found = []
    for number, rule in enumerate(rules):
        if reading := _reading(rule.check):
            reads, words, hint = reading
            reason = " ".join(filter(None, (f"The value cannot be read as {words}.", hint)))
            fault = RowError(NOT_A_VALUE, reason, rule.check.column)
            found.append(Conversion(number, rule, reads, fault))
    return tuple(found)


def find_unreadable(
    block: Block, dialect: Dialect, among: tuple[Conversion, ...], width: int
) -> list[tuple[int, RowError]]:
    """The records of the block (from 0) with a value that its conversion cannot read, each once for each such value.

    `width`: the number of fields; records with another number are left out. Each text is read once.
    """
    found = []
    for each, texts in _columns(block, dialect, among, width):
        wrong = {raw for raw in {raw for _, raw in texts} if not each.takes(raw)}
        found += [(record, each.fault) for record, raw in texts if raw in wrong] if wrong else []
    return found


def _columns(
    block: Block, dialect: Dialect, among: tuple[Conversion, ...], width: int
) -> Iterator[tuple[Conversion, list[tuple[int, bytes | None]]]]:
    """For each conversion the values of its field, each with the number of its record."""
    layout = lay_out(block, dialect, width) if not dialect.escapes_all else None
    if layout is None:
        yield from _one_by_one(block, dialect, among, width)
        return
    for each in among:
        cells = layout.cells([each.number])
        records = range(len(cells)) if layout.rows is None else layout.rows.tolist()
        yield each, list(zip(records, cells.texts(slice(None)), strict=True))


def _one_by_one(
    block: Block, dialect: Dialect, among: tuple[Conversion, ...], width: int
) -> Iterator[tuple[Conversion, list[tuple[int, bytes | None]]]]:
    """As _columns(), for a block whose fields cannot be found all at once."""
    ends = block.ends.as_array().tolist()
    bounds = zip([0, *ends], ends, strict=False)
    rows = [(record, values(block.data[low:high], dialect)) for record, (low, high) in enumerate(bounds)]
    whole = [(record, row) for record, row in rows if len(row) == width]
    for each in among:
        yield each, [(record, row[each.number]) for record, row in whole]


def _reading(check: FieldCheck) -> tuple[Callable[[str], bool], str, str] | None:
    """Whether a text is read, how that reading is called, and a hint; None if every text is."""
    if check.datetime_format:
        return lambda text: is_moment(check.datetime_format, text), format_words(check.datetime_format), ""
    column = Column("", check.type, nullable=True, default=None, auto_increment=False, generated=False)
    chosen = [TRANSFORMS[name] for name in check.transforms if TRANSFORMS[name].takes]
    if not chosen or not check.column:
        return None
    fits = [each.matcher(column) for each in chosen]
    return lambda text: all(each(text) for each in fits), chosen[0].words, chosen[0].hint

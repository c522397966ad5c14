"""What the server would change in silence: found in the file's bytes, before they are sent.

LOAD DATA stores 2 for `1.5` in an INT, 2024 for the year 24, `abc` for `abc  ` in a CHAR, and says nothing
(server-behaviour.md). An Exactness knows, for each field of the file, what the column it goes into keeps as it is. It
narrows the cells of a block down to the unusual ones, many at once (cells.py, time_cells.py, layout.py), and decides
about each of those by its text (numbers.py, times.py, texts.py, documents.py). What the server refuses anyway is found,
too, so that it need not be sent.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from importer.engine.mapping.columns import ColumnMapping
from importer.engine.schema.column_types import Family
from importer.engine.schema.table import Table
from importer.engine.source.dialect import Dialect
from importer.engine.source.records.blocks import Block
from importer.engine.validation.field_check import CellRule, FieldCheck
from importer.engine.validation.findings import BlockFindings
from importer.engine.validation.validator import Validator

__all__ = ["BlockFindings", "FieldCheck", "ValidationRules"]


@dataclass(frozen=True)
class ValidationRules:
    """The checks of one import, one for each field of the file. `reject_rounding`: a notice is a fault."""

    dialect: Dialect
    checks: tuple[FieldCheck, ...]
    mariadb: bool
    reject_rounding: bool = False

    @classmethod
    def of(
        cls, dialect: Dialect, mapping: Sequence[ColumnMapping], table: Table, *, mariadb: bool, rounding: str
    ) -> "ValidationRules":
        """The checks for a file in this dialect that goes into the table. `rounding` is Options.rounding."""
        return cls(dialect, tuple(_check(each, table) for each in mapping), mariadb, rounding == "reject")

    def suspicious(self, block: Block) -> bool:
        """Whether examine() may find anything in the block. Says no only where it is certain; fast."""
        return self.validator.suspicious(block)

    def examine(self, block: Block) -> BlockFindings:
        """Every fault and notice of the block's records; `block.data` must be there, even for a large record."""
        return self.validator.examine(block)

    @cached_property
    def validator(self) -> Validator:
        rules = (CellRule.of(check, mariadb=self.mariadb, encoding=self.dialect.encoding) for check in self.checks)
        return Validator(self.dialect, tuple(rules), self.reject_rounding)


def _check(mapping: ColumnMapping, table: Table) -> FieldCheck:
    if not mapping.column:
        return FieldCheck("")
    column = table.column(mapping.column)
    nullable = column.nullable or column.auto_increment
    if mapping.transforms:
        # Its expression refuses what the column would change, all but the digits of floating point.
        floating = column.column_type.family is Family.FLOATING
        names = mapping.transforms if floating else ()
        return FieldCheck(column.name, column.type if floating else "", nullable, mapping.null_markers, "", names)
    return FieldCheck(column.name, column.type, nullable, mapping.null_markers, mapping.datetime_format)

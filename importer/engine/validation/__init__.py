"""Validation: finds values in the file's bytes that the server would change silently, before they are sent.

LOAD DATA stores 2 for `1.5` in an INT, 2024 for the year 24, `abc` for `abc  ` in a CHAR, without a warning
(server-behaviour.md). ValidationRules has a check for each field of the file, for the type of its column. Validation
narrows the cells of a block down to the unusual ones, many at once (fast_path.py, record_layout.py, cell_batch.py,
types/temporal_batch.py), and decides about each unusual cell by its text (types/). It also finds the values that the
server refuses, so that they are not sent.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from importer.engine.mapping.columns import ColumnMapping
from importer.engine.mapping.expressions import without_markers
from importer.engine.schema.column_types import column_type
from importer.engine.schema.table import Table
from importer.engine.source.dialect import Dialect
from importer.engine.source.records.blocks import Block
from importer.engine.validation.converted_rules import FieldCheck
from importer.engine.validation.field_check import CellRule
from importer.engine.validation.findings import BlockFindings
from importer.engine.validation.validator import Validator

__all__ = ["BlockFindings", "FieldCheck", "ValidationRules"]


@dataclass(frozen=True)
class ValidationRules:
    """The checks of one import, one for each field of the file. `reject_rounding`: a lossy value is a fault.

    `utc`: the loading sessions are in UTC.
    """

    dialect: Dialect
    checks: tuple[FieldCheck, ...]
    mariadb: bool
    reject_rounding: bool = False
    utc: bool = True

    @classmethod
    def of(
        cls,
        dialect: Dialect,
        mapping: Sequence[ColumnMapping],
        table: Table,
        *,
        mariadb: bool,
        rounding: str,
        utc: bool = True,
    ) -> "ValidationRules":
        """The checks for a file in this dialect and a table. `rounding` is Options.rounding."""
        return cls(dialect, tuple(_check(each, table) for each in mapping), mariadb, rounding == "reject", utc)

    def for_table(self, mapping: Sequence[ColumnMapping], table: Table) -> "ValidationRules":
        """The same rules for another mapping and table."""
        return replace(self, checks=tuple(_check(each, table) for each in mapping))

    def look(self, block: Block) -> "BlockLook":
        """What the scan wants to know of the block."""
        return BlockLook(self, block)

    def suspicious(self, block: Block) -> bool:
        """Whether examine() may find a fault or notice in the block. Fast; False only if there certainly is none."""
        return self.validator.suspicious(block)

    def examine(self, block: Block) -> BlockFindings:
        """Find every fault and notice of the block's records. Needs `block.data`, even for a large record."""
        return self.validator.examine(block)

    @cached_property
    def validator(self) -> Validator:
        rules = (
            CellRule.of(check, mariadb=self.mariadb, encoding=self.dialect.encoding, utc=self.utc)
            for check in self.checks
        )
        return Validator(self.dialect, tuple(rules), self.reject_rounding)

    @cached_property
    def without_markers(self) -> "ValidationRules | None":
        """The rules for LoadStatements.no_markers, which find each NULL marker that it does not compare.

        None if it compares all of them.
        """
        checks = tuple(_without_markers(each) for each in self.checks)
        return None if checks == self.checks else replace(self, checks=checks)


@dataclass
class BlockLook:
    """Looks at the values of a block for the scan, each question at most once."""

    rules: ValidationRules
    block: Block
    _clean: bool | None = None

    def may_have_null_marker(self) -> bool:
        """Whether a value may be one of the NULL markers that LoadStatements.no_markers does not compare."""
        rules = self.rules.without_markers
        if rules and self._clean is None:
            self._clean = rules.validator.is_clean(self.block)
        return bool(rules) and not self._clean

    @cached_property
    def suspicious(self) -> bool:
        """As ValidationRules.suspicious()."""
        return not self._clean and bool(self.block.size) and self.rules.suspicious(self.block)


def _without_markers(check: FieldCheck) -> FieldCheck:
    if not check.null_markers:
        return check
    return replace(check, null_markers=without_markers(check.mapping, column_type(check.type)).null_markers)


def _check(mapping: ColumnMapping, table: Table) -> FieldCheck:
    if not mapping.column:
        return FieldCheck("")
    column = table.column(mapping.column)
    nullable = column.nullable or column.auto_increment
    return FieldCheck(
        column.name,
        column.type,
        nullable,
        mapping.null_markers,
        mapping.datetime_format,
        mapping.transforms,
        mapping.values,
        mapping.lookup,
    )

"""Finds the rule for the values of a field after the mapping has converted them: no conversion skips a check."""

from dataclasses import dataclass, replace

from importer.engine.mapping.columns import ColumnMapping, Lookup, ValueList
from importer.engine.mapping.transforms import TRANSFORMS
from importer.engine.schema.column_types import Family, column_type
from importer.engine.validation.column_rules import rule_of
from importer.engine.validation.trimming import Trimming
from importer.engine.validation.types.converted_texts import ConvertedText
from importer.engine.validation.types.formatted_numbers import FormattedNumber
from importer.engine.validation.types.formatted_times import FormattedTime
from importer.engine.validation.types.hex_bytes import HEX_DIGITS, HexBytes
from importer.engine.validation.types.numbers import FixedPoint, FloatingPoint
from importer.engine.validation.types.temporal import Clock, Moment
from importer.engine.validation.types.texts import Bytes, Text
from importer.engine.validation.verdict import ColumnRule


@dataclass(frozen=True)
class FieldCheck:
    """How one field is checked for a column of the full `type`; "" leaves the field to the server.

    `null_markers` become NULL, which only a `nullable` column accepts. `datetime_format`, `transforms` and `values` are
    those of the mapping.
    """

    column: str
    type: str = ""
    nullable: bool = True
    null_markers: tuple[str, ...] = ()
    datetime_format: str = ""
    transforms: tuple[str, ...] = ()
    values: ValueList = ()
    lookup: Lookup | None = None

    @property
    def mapping(self) -> ColumnMapping:
        return ColumnMapping(
            self.column, self.null_markers, self.datetime_format, self.transforms, self.values, self.lookup
        )


def converted_rule(check: FieldCheck, trimming: Trimming | None, *, mariadb: bool, utc: bool) -> ColumnRule | None:
    """The rule for the field's values after trimming; None if the server refuses all that it would not store exactly.

    A value that the mapping's transform or format cannot read is left to the server, for which the mapping's expression
    makes a bad value of it.
    """
    rule: ColumnRule | None = rule_of(check.type, mariadb) if check.type and not check.lookup else None
    if isinstance(rule, Moment) and not utc:
        rule = replace(rule, utc=False)
    if check.datetime_format:
        return _formatted(check, rule)
    reading = next((name for name in check.transforms if not TRANSFORMS[name].cleans), "")
    if reading and TRANSFORMS[reading].takes:
        if isinstance(rule, FloatingPoint | FixedPoint) and TRANSFORMS[reading].in_python:
            return FormattedNumber(rule, check.transforms)
        return HexBytes(rule) if isinstance(rule, Bytes) and rule.fixed and reading in HEX_DIGITS else None
    if rule and reading and (convert := TRANSFORMS[reading].in_python):
        return ConvertedText(rule, convert)
    if isinstance(rule, Text) and trimming and trimming.at_end:
        return replace(rule, fixed=False)  # No spaces are left for CHAR to remove.
    if check.transforms and column_type(check.type).family is Family.BIT:
        return None  # Its digits are read as a number, by an expression.
    return rule


def _formatted(check: FieldCheck, rule: ColumnRule | None) -> ColumnRule | None:
    if column_type(check.type).family is Family.DATE:
        return FormattedTime(check.type, check.datetime_format)
    if isinstance(rule, Moment | Clock):
        return FormattedTime(check.type, check.datetime_format, rule.digits)
    return None

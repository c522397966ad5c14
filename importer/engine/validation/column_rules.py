"""Finds the rule that checks the values of a column, by the family of its type."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from importer.engine.schema.column_types import ColumnType, Family, column_type
from importer.engine.schema.table import list_members
from importer.engine.validation.types.json_documents import Json
from importer.engine.validation.types.numbers import FixedPoint, FloatingPoint, WholeNumber
from importer.engine.validation.types.temporal import Clock, Day, Moment, Year
from importer.engine.validation.types.texts import Bits, Bytes, Geometry, Members, Text
from importer.engine.validation.verdict import ColumnRule

_ARGUMENTS = re.compile(r"\w+(?:\((?P<arguments>.*)\))?(?P<rest>[^)]*)", re.DOTALL)


@dataclass(frozen=True)
class _Declared:
    """A column's full type in its parts."""

    type: str
    of: ColumnType
    sizes: tuple[int, ...]
    unsigned: bool
    mariadb: bool

    @property
    def length(self) -> int:
        """The maximum length in characters, bytes or bits."""
        return self.of.size or (self.sizes[0] if self.sizes else 1)

    @property
    def digits(self) -> int:
        """Fractional digits of seconds."""
        return self.sizes[0] if self.sizes else 0


@lru_cache
def rule_of(type_: str, mariadb: bool) -> ColumnRule | None:
    """The rule for a column of this full type, such as `decimal(9,7)`; None for a type that is left to the server."""
    match = _ARGUMENTS.fullmatch(type_)
    make = _RULES.get(column_type(type_).family)
    if not match or not make:
        return None
    arguments = match["arguments"] or ""
    sizes = tuple(int(each) for each in arguments.split(",")) if re.fullmatch(r"[\d,]+", arguments) else ()
    return make(_Declared(type_, column_type(type_), sizes, "unsigned" in match["rest"].lower(), mariadb))


def _integer(declared: _Declared) -> ColumnRule:
    values = 2 ** (8 * declared.of.size)
    low = 0 if declared.unsigned else -(values // 2)
    return WholeNumber(declared.type, low, low + values - 1, declared.mariadb)


def _decimal(declared: _Declared) -> ColumnRule:
    precision, *scale = declared.sizes
    return FixedPoint(declared.type, precision, scale[0] if scale else 0, declared.unsigned, declared.mariadb)


def _floating(declared: _Declared) -> ColumnRule:
    precision, scale = declared.sizes if len(declared.sizes) == 2 else (0, -1)
    return FloatingPoint(declared.type, declared.of.is_single, precision, scale, declared.unsigned, declared.mariadb)


def _moment(declared: _Declared) -> ColumnRule:
    return Moment(declared.type, declared.digits, declared.of.has_epoch, declared.mariadb)


_RULES: dict[Family, Callable[[_Declared], ColumnRule]] = {
    Family.INTEGER: _integer,
    Family.DECIMAL: _decimal,
    Family.FLOATING: _floating,
    Family.BIT: lambda declared: Bits(declared.type, declared.length),
    Family.YEAR: lambda declared: Year(declared.type, declared.mariadb),
    Family.DATE: lambda declared: Day(declared.type, declared.mariadb),
    Family.MOMENT: _moment,
    Family.TIME: lambda declared: Clock(declared.type, declared.digits, declared.mariadb),
    Family.CHARACTER: lambda declared: Text(declared.type, declared.length, declared.of.fixed),
    Family.BYTES: lambda declared: Bytes(declared.type, declared.length, declared.of.fixed),
    Family.ENUM: lambda declared: Members(declared.type, list_members(declared.type), False),
    Family.SET: lambda declared: Members(declared.type, list_members(declared.type), True),
    Family.JSON: lambda declared: Json(declared.type),
    Family.GEOMETRY: lambda declared: Geometry(declared.type),
}

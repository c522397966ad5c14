"""From a column's type to what checks its values."""

import re
from functools import lru_cache
from typing import Any, Protocol, runtime_checkable

from importer.engine.schema.table import list_members
from importer.engine.validation.cell_batch import Cells
from importer.engine.validation.types.json_documents import Json
from importer.engine.validation.types.numbers import FixedPoint, FloatingPoint, WholeNumber
from importer.engine.validation.types.temporal import Clock, Day, Moment, Year
from importer.engine.validation.types.texts import Bits, Bytes, Geometry, Members, Text
from importer.engine.validation.verdict import Verdict


class Kind(Protocol):
    """What a column keeps: unusual() narrows many cells down quickly, judge() decides about one by its text.

    A kind with `of_bytes` judges the bytes.
    """

    @property
    def type(self) -> str: ...

    def unusual(self, cells: Cells) -> Any: ...

    def judge(self, value: Any, /) -> Verdict | None: ...


@runtime_checkable
class Losing(Protocol):
    """A kind that knows at once of many cells that they lose something, always the same `loss`, and nothing else."""

    @property
    def loss(self) -> Verdict: ...

    def loses(self, cells: Cells) -> Any: ...


BITS = {"tinyint": 8, "smallint": 16, "mediumint": 24, "int": 32, "bigint": 64}
TEXT_BYTES = {"tiny": 2**8 - 1, "": 2**16 - 1, "medium": 2**24 - 1, "long": 2**32 - 1}
GEOMETRIES = {
    "geometry", "point", "linestring", "polygon", "multipoint", "multilinestring", "multipolygon",
    "geometrycollection", "geomcollection",
}  # fmt: skip
_TYPE = re.compile(r"(?P<name>\w+)(?:\((?P<arguments>.*)\))?(?P<rest>[^)]*)", re.DOTALL)


@lru_cache
def kind_of(type_: str, mariadb: bool) -> Kind | None:
    """What checks a column of this full type, such as `decimal(9,7)`; None for a type that is left to the server."""
    found = _TYPE.fullmatch(type_)
    if not found:
        return None
    name, arguments = found["name"].lower(), found["arguments"] or ""
    unsigned = "unsigned" in found["rest"].lower()
    sizes = [int(each) for each in arguments.split(",")] if re.fullmatch(r"[\d,]+", arguments) else []
    return (
        _number(name, type_, sizes, unsigned=unsigned, mariadb=mariadb)
        or _time(name, type_, sizes, mariadb=mariadb)
        or _text(name, type_, sizes)
    )


def _number(name: str, type_: str, sizes: list[int], *, unsigned: bool, mariadb: bool) -> Kind | None:
    if name in BITS:
        low, high = (0, 2 ** BITS[name] - 1) if unsigned else (-(2 ** (BITS[name] - 1)), 2 ** (BITS[name] - 1) - 1)
        return WholeNumber(type_, low, high, mariadb)
    if name == "decimal":
        return FixedPoint(type_, sizes[0], sizes[1] if len(sizes) > 1 else 0, unsigned, mariadb)
    if name in ("float", "double"):
        precision, scale = sizes if len(sizes) == 2 else (0, -1)
        return FloatingPoint(type_, name == "float", precision, scale, unsigned, mariadb)
    return None


def _time(name: str, type_: str, sizes: list[int], *, mariadb: bool) -> Kind | None:
    digits = sizes[0] if sizes else 0
    if name == "date":
        return Day(type_, mariadb)
    if name in ("datetime", "timestamp"):
        return Moment(type_, digits, name == "timestamp", mariadb)
    if name == "time":
        return Clock(type_, digits, mariadb)
    return Year(type_, mariadb) if name == "year" else None


def _text(name: str, type_: str, sizes: list[int]) -> Kind | None:
    if name in ("char", "varchar"):
        return Text(type_, sizes[0] if sizes else 1, name == "char")
    if name in ("binary", "varbinary"):
        return Bytes(type_, sizes[0] if sizes else 1, name == "binary")
    if name in ("enum", "set"):
        return Members(type_, list_members(type_), name == "set")
    if name.endswith("text") and name[:-4] in TEXT_BYTES:
        return Text(type_, TEXT_BYTES[name[:-4]])
    if name.endswith("blob") and name[:-4] in TEXT_BYTES:
        return Bytes(type_, TEXT_BYTES[name[:-4]])
    if name == "bit":
        return Bits(type_, sizes[0] if sizes else 1)
    if name == "json":
        return Json(type_)
    return Geometry(type_) if name in GEOMETRIES else None

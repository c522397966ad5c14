"""The column types of MySQL and MariaDB: one ColumnType for each, with the properties that decide how it is loaded.

No other module compares the name of a type. Other packages look up their rules by family: validation/column_rules.py
and load/readback/value_equality.py have one table each.
"""

from dataclasses import dataclass, replace
from enum import Enum, IntEnum
from functools import lru_cache

SINGLE_BYTES = 4


class Family(Enum):
    """A family of types whose values are read, checked and compared in one way."""

    INTEGER = "integer"
    DECIMAL = "decimal"
    FLOATING = "floating"
    BIT = "bit"
    YEAR = "year"
    DATE = "date"
    MOMENT = "moment"  # a date with a time
    TIME = "time"
    CHARACTER = "character"
    BYTES = "bytes"
    ENUM = "enum"
    SET = "set"
    JSON = "json"
    GEOMETRY = "geometry"
    UUID = "uuid"
    ADDRESS = "address"  # of an Internet host
    OTHER = "other"


class Order(Enum):
    """How sorting/sort_key.py converts a value to bytes that sort approximately as on the server. NONE: not at all."""

    NONE = ""
    INTEGER = "integer"  # "unsigned" for an unsigned column
    DECIMAL = "decimal"
    LETTERS = "letters"  # case-insensitive
    TEXT = "text"  # by bytes


class Creatable(IntEnum):
    """What follows the type's name in the definition of a new table. NO: not allowed in a new table."""

    NO, PLAIN, UNSIGNED, FRACTION, LENGTH, PRECISION = range(6)


class Wording(Enum):
    """The wording of the message about a value that the server refused."""

    MISMATCH = "mismatch"
    INVALID = "invalid"
    TOO_LONG = "too long"
    NOT_A_MEMBER = "not a member"


_NUMERIC = {Family.INTEGER, Family.DECIMAL, Family.FLOATING}
_TEMPORAL = {Family.DATE, Family.MOMENT, Family.TIME}
_WORDINGS = {
    **dict.fromkeys((*_TEMPORAL, Family.YEAR), Wording.INVALID),
    **dict.fromkeys((Family.CHARACTER, Family.BYTES), Wording.TOO_LONG),
    **dict.fromkeys((Family.ENUM, Family.SET), Wording.NOT_A_MEMBER),
}


@dataclass(frozen=True)
class ColumnType:
    """A type. `name` is its name in information_schema; `aliases` are other names that CREATE TABLE accepts.

    `size`, in bytes: of an integer or floating-point number, or the maximum of a TEXT or BLOB type; 0 if the length is
    declared or there is none. `fixed`: CHAR and BINARY, which strip or pad values at the end. `servers`: the servers
    that have the type. `binary_charset`: a text of character set binary is read as any other text (INET6 and UUID
    would take it for their binary form). `finds_row`: a key finds the row by the text in the file, even if the server
    stores the value in another form. `has_epoch`: TIMESTAMP, which stores seconds since 1970.
    """

    name: str
    family: Family
    aliases: tuple[str, ...] = ()
    size: int = 0
    fixed: bool = False
    creatable: Creatable = Creatable.NO
    order: Order = Order.NONE
    binary_charset: bool = False
    finds_row: bool = False
    has_epoch: bool = False
    servers: tuple[str, ...] = ("mysql", "mariadb")

    @property
    def is_number(self) -> bool:
        """Accepts numbers with a sign, a point or an exponent, and the transforms that read numbers."""
        return self.family in _NUMERIC

    @property
    def has_fraction(self) -> bool:
        return self.family in (Family.DECIMAL, Family.FLOATING)

    @property
    def is_single(self) -> bool:
        """FLOAT, of single precision."""
        return self.family is Family.FLOATING and self.size <= SINGLE_BYTES

    @property
    def is_temporal(self) -> bool:
        """Dates and times, which a datetime format of the mapping may read."""
        return self.family in _TEMPORAL

    @property
    def has_date(self) -> bool:
        return self.family in (Family.DATE, Family.MOMENT)

    @property
    def is_typed(self) -> bool:
        """Numbers, dates or times, in contrast to free text."""
        return self.is_number or self.is_temporal or self.family in (Family.BIT, Family.YEAR)

    @property
    def is_list(self) -> bool:
        return self.family in (Family.ENUM, Family.SET)

    @property
    def has_charset(self) -> bool:
        return self.family is Family.CHARACTER or self.is_list

    @property
    def shown_as_bytes(self) -> bool:
        """Shown to people in hexadecimal digits."""
        return self.family in (Family.BYTES, Family.BIT)

    @property
    def takes_hex(self) -> bool:
        """Whether the transform `hex` can fill the column."""
        return self.family is Family.BYTES

    @property
    def holds_megabytes(self) -> bool:
        """MEDIUMBLOB and LONGBLOB, for which a statement cannot, or should not, produce a text that is too long."""
        return self.family is Family.BYTES and self.size >= MEDIUM

    @property
    def is_digested(self) -> bool:
        """Stores the bytes of the file unchanged, so that a digest can compare them."""
        return self.family is Family.CHARACTER or (self.family is Family.BYTES and not self.fixed)

    @property
    def wording(self) -> Wording:
        return _WORDINGS.get(self.family, Wording.MISMATCH)


# Maximum bytes of the TEXT and BLOB types (manual, Data Type Storage Requirements).
TINY, PLAIN, MEDIUM, LONG = 2**8 - 1, 2**16 - 1, 2**24 - 1, 2**32 - 1
MYSQL, MARIADB = ("mysql",), ("mariadb",)


def _integer(name: str, size: int, *aliases: str) -> ColumnType:
    return ColumnType(
        name,
        Family.INTEGER,
        aliases,
        size,
        False,
        Creatable.UNSIGNED,
        Order.INTEGER,
        binary_charset=True,
        finds_row=True,
    )


def _temporal(name: str, family: Family, creatable: Creatable) -> ColumnType:
    by_key = family is Family.DATE
    return ColumnType(name, family, (), 0, False, creatable, Order.TEXT, binary_charset=True, finds_row=by_key)


def _text(name: str, size: int, *aliases: str) -> ColumnType:
    return ColumnType(name, Family.CHARACTER, aliases, size, creatable=Creatable.PLAIN, order=Order.LETTERS)


def _blob(name: str, size: int, *aliases: str) -> ColumnType:
    return ColumnType(name, Family.BYTES, aliases, size, order=Order.TEXT, binary_charset=True)


def _sized(name: str, family: Family, *aliases: str, fixed: bool = False) -> ColumnType:
    is_bytes = family is Family.BYTES
    order = Order.TEXT if is_bytes else Order.LETTERS
    return ColumnType(name, family, aliases, 0, fixed, Creatable.LENGTH, order, is_bytes, finds_row=True)


def _floating(name: str, size: int, *aliases: str) -> ColumnType:
    return ColumnType(name, Family.FLOATING, aliases, size, False, Creatable.UNSIGNED, Order.DECIMAL, True)


_GEOMETRIES = ("geometry", "point", "linestring", "polygon", "multipoint", "multilinestring", "multipolygon")

COLUMN_TYPES = (
    _integer("tinyint", 1, "bool", "boolean", "int1"),
    _integer("smallint", 2, "int2"),
    _integer("mediumint", 3, "int3", "middleint"),
    _integer("int", 4, "integer", "int4"),
    _integer("bigint", 8, "int8"),
    ColumnType(
        "decimal",
        Family.DECIMAL,
        ("dec", "numeric", "fixed"),
        creatable=Creatable.PRECISION,
        order=Order.DECIMAL,
        binary_charset=True,
    ),
    _floating("float", 4, "float4"),
    _floating("double", 8, "real", "float8", "double precision"),
    ColumnType("bit", Family.BIT),
    ColumnType("year", Family.YEAR, creatable=Creatable.PLAIN, order=Order.INTEGER, binary_charset=True),
    _temporal("date", Family.DATE, Creatable.PLAIN),
    _temporal("datetime", Family.MOMENT, Creatable.FRACTION),
    replace(_temporal("timestamp", Family.MOMENT, Creatable.FRACTION), has_epoch=True),
    _temporal("time", Family.TIME, Creatable.FRACTION),
    _sized("char", Family.CHARACTER, "character", "nchar", fixed=True),
    _sized("varchar", Family.CHARACTER, "character varying", "nvarchar"),
    _text("tinytext", TINY),
    _text("text", PLAIN),
    _text("mediumtext", MEDIUM, "long", "long varchar"),
    _text("longtext", LONG),
    _sized("binary", Family.BYTES, fixed=True),
    _sized("varbinary", Family.BYTES),
    _blob("tinyblob", TINY),
    _blob("blob", PLAIN),
    _blob("mediumblob", MEDIUM, "long varbinary"),
    _blob("longblob", LONG),
    ColumnType("enum", Family.ENUM, order=Order.LETTERS),
    ColumnType("set", Family.SET),
    # MariaDB accepts the name too, but makes a LONGTEXT with a CHECK constraint.
    ColumnType("json", Family.JSON, creatable=Creatable.PLAIN, servers=MYSQL),
    *(ColumnType(name, Family.GEOMETRY) for name in _GEOMETRIES),
    ColumnType("geomcollection", Family.GEOMETRY, ("geometrycollection",), servers=MYSQL),
    ColumnType("geometrycollection", Family.GEOMETRY, servers=MARIADB),
    ColumnType("vector", Family.OTHER),
    ColumnType("uuid", Family.UUID, order=Order.TEXT, servers=MARIADB),
    ColumnType("inet4", Family.ADDRESS, servers=MARIADB),
    ColumnType("inet6", Family.ADDRESS, order=Order.TEXT, servers=MARIADB),
)
_BY_NAME = {each.name: each for each in COLUMN_TYPES}


def name_of(type_: str) -> str:
    """The first word of a full type such as `decimal(9,7) unsigned`, in lower case."""
    return type_.split("(", maxsplit=1)[0].split(" ", maxsplit=1)[0].lower()


@lru_cache
def column_type(type_: str) -> ColumnType:
    """The ColumnType of a full type from information_schema; one of Family.OTHER if the type is unknown."""
    name = name_of(type_)
    return _BY_NAME.get(name) or ColumnType(name, Family.OTHER)


def creatable_names(*syntaxes: Creatable) -> str:
    """The names of the types with one of these syntaxes, as alternatives of a regular expression."""
    return "|".join(each.name for each in COLUMN_TYPES if each.creatable in syntaxes)

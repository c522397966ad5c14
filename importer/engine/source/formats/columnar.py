"""Parquet and Arrow files: columns with types, read by pyarrow, which is an optional package (millrace[parquet])."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, BinaryIO

from importer.engine.errors import SourceProblem, how_to_install
from importer.engine.source.compression import Piece
from importer.engine.source.decisions import Decision, Standing
from importer.engine.source.dialect import Dialect
from importer.engine.source.formats.contents import Contents
from importer.engine.source.formats.copy_records import CopyRecords
from importer.engine.source.formats.format import ANY_TEXT, Format, Layout, Wanted
from importer.engine.source.records.copy_escapes import escaped

if TYPE_CHECKING:
    import pyarrow

ROWS_AT_ONCE = 4096
TYPES_SHOWN = 30
_NO_TEXT = frozenset({*range(9), *range(0x0E, 0x20), *range(0x80, 0x100)})
_NULL, _TAB = rb"\N".decode(), "\t"
_INTEGER = re.compile("(u?)int(8|16|32|64)")
_INTEGERS = {"8": "tinyint", "16": "smallint", "32": "int", "64": "bigint"}
_PLAIN_TYPES = {"double": "double", "date32[day]": "date"}
# Digits of a second by the unit. No column has those of a nanosecond.
_FRACTION = {"s": 0, "ms": 3, "us": 6}
# Of DECIMAL (manual, DECIMAL Data Type Characteristics; MariaDB has a larger scale).
MOST_DIGITS, MOST_SCALE = 65, 30


@contextmanager
def _read(contents: Contents) -> Iterator[BinaryIO]:
    """The file. Raises SourceProblem if pyarrow is missing or cannot read it."""
    try:
        import pyarrow
    except ImportError as error:
        raise SourceProblem(
            "Parquet and Arrow files need the package pyarrow, which is not installed.",
            advice=how_to_install("pyarrow"),
        ) from error
    with contents.file() as file:
        try:
            yield file
        except (pyarrow.ArrowException, OSError) as error:
            what = str(error).partition("\n")[0]
            raise SourceProblem(f"The file cannot be read: {what}", advice="Copy or write the file again.") from error


def _parquet(file: BinaryIO) -> tuple[pyarrow.Schema, Iterable[pyarrow.RecordBatch], int]:
    """The schema, the batches, and the number of rows."""
    from pyarrow import parquet

    opened = parquet.ParquetFile(file, pre_buffer=False)
    return opened.schema_arrow, opened.iter_batches(batch_size=ROWS_AT_ONCE), opened.metadata.num_rows


def _arrow(file: BinaryIO) -> tuple[pyarrow.Schema, Iterable[pyarrow.RecordBatch], int]:
    from pyarrow import ipc

    opened = ipc.open_file(file)
    batches = (opened.get_batch(number) for number in range(opened.num_record_batches))
    parts = (
        batch.slice(begin, ROWS_AT_ONCE)
        for batch in batches
        for begin in range(0, max(1, batch.num_rows), ROWS_AT_ONCE)
    )
    return opened.schema, parts, -1


def _layout(contents: Contents, opened: Any) -> Layout:
    with _read(contents) as file:
        schema, _, _ = opened(file)
        types = ", ".join(f"{each.name} {each.type}" for each in list(schema)[:TYPES_SHOWN])
        nested = ", ".join(each.name for each in schema if _is_nested(each.type))
        unknown = [each for each in schema if not _is_known(each.type)]
        if unknown:
            raise SourceProblem(
                f"The column {unknown[0].name} has the type {unknown[0].type}, which no column of a table has.",
                advice="Write the file without it, or with another type.",
            )
    notes = (f"Written as JSON text: {nested}.",) if nested else ()
    decision = Decision("types", types, Standing.PROVED, f"The file states its types: {types}.")
    stated = tuple(map(_column_type, (each.type for each in schema)))
    of_bytes = frozenset(at for at, each in enumerate(schema) if _is_bytes(_values_of(each.type)))
    names = tuple(each.name for each in schema)
    return Layout(names, decisions=(decision,), notes=notes, types=stated, of_bytes=of_bytes)


def _column_type(type_: pyarrow.DataType) -> str:
    """The type of a column for these values; "" where the values decide: they lose nothing in any case."""
    from pyarrow import types

    name = str(type_)
    if found := _INTEGER.fullmatch(name):
        return _INTEGERS[found[2]] + (" unsigned" if found[1] else "")
    if types.is_string(type_) or types.is_large_string(type_):
        return ANY_TEXT
    if types.is_decimal(type_) and 0 <= type_.scale <= MOST_SCALE and type_.scale <= type_.precision <= MOST_DIGITS:
        return f"decimal({type_.precision},{type_.scale})"
    if types.is_timestamp(type_) and not type_.tz:
        return f"datetime({_FRACTION[type_.unit]})" if type_.unit in _FRACTION else ""
    return _PLAIN_TYPES.get(name, "")


def _is_nested(type_: pyarrow.DataType) -> bool:
    from pyarrow import types

    return bool(types.is_nested(type_))


def _is_known(type_: pyarrow.DataType) -> bool:
    from pyarrow import types

    return not (types.is_duration(type_) or types.is_interval(type_) or types.is_union(type_))


def _convert(contents: Contents, opened: Any) -> Iterator[Piece]:
    size = 0
    with _read(contents) as file:
        schema, batches, _ = opened(file)
        out = CopyRecords(len(schema), tolerate=contents.tolerate)
        row = 0
        for batch in batches:
            size = file.tell()
            for record in _records(batch):
                row += 1
                if out.add(record, row):
                    yield out.piece(size)
        yield from out.rest(size)


def _records(batch: pyarrow.RecordBatch) -> Iterator[bytes]:
    """The records of a batch for the copy."""
    import pyarrow
    from pyarrow import compute

    columns = [_texts(column, name) for column, name in zip(batch.columns, batch.schema.names, strict=True)]
    tab = pyarrow.scalar(_TAB, pyarrow.large_string())
    joined = compute.binary_join_element_wise(*columns, tab, null_handling="replace", null_replacement=_NULL)
    for each in joined.cast(pyarrow.large_binary()).to_pylist():
        yield each + b"\n"


def _texts(column: pyarrow.Array, name: str) -> pyarrow.Array:
    """The values of a column as they stand in the copy. Raises SourceProblem, with its name, for one without a text."""
    import pyarrow
    from pyarrow import types

    text = pyarrow.large_string()
    if isinstance(column, pyarrow.ExtensionArray):
        column = column.storage
    if types.is_dictionary(column.type):
        column = column.dictionary_decode()
    kind = column.type
    if types.is_nested(kind):
        values = [None if each is None else _json(each) for each in _nested(column, name)]
        return pyarrow.array([None if each is None else _escaped(each) for each in values], text)
    if _is_bytes(kind):
        digits = [None if each is None else f"0x{each.hex()}" if each else "" for each in column.to_pylist()]
        return pyarrow.array(digits, text)
    if types.is_decimal(kind):
        return pyarrow.array([None if each is None else f"{each:f}" for each in column.to_pylist()], text)
    if types.is_timestamp(kind) and kind.tz:
        return column.cast(pyarrow.timestamp(kind.unit, "UTC")).cast(text)
    if types.is_string(kind) or types.is_large_string(kind) or kind == pyarrow.string_view():
        return _escaped_column(column.cast(text))
    return column.cast(text)


def _nested(column: pyarrow.Array, name: str) -> list[Any]:
    """The values of a nested column. Raises SourceProblem for one that Python does not have, such as a nanosecond."""
    try:
        values: list[Any] = column.to_pylist()
    except (ValueError, OverflowError, LookupError) as error:
        what = str(error).partition("\n")[0]
        raise SourceProblem(
            f"The column {name} has a value in a list or structure that cannot be read: {what}.",
            advice="Write it as a column of its own; times in microseconds before the year 10000, texts in UTF-8.",
        ) from error
    return values


def _values_of(type_: pyarrow.DataType) -> pyarrow.DataType:
    """The type of the values themselves, of a column that _texts() unwraps."""
    import pyarrow
    from pyarrow import types

    if isinstance(type_, pyarrow.BaseExtensionType):
        type_ = type_.storage_type
    return type_.value_type if types.is_dictionary(type_) else type_


def _is_bytes(type_: pyarrow.DataType) -> bool:
    import pyarrow
    from pyarrow import types

    is_known = (types.is_binary, types.is_large_binary, types.is_fixed_size_binary)
    return any(each(type_) for each in is_known) or bool(type_ == pyarrow.binary_view())


def _escaped_column(column: pyarrow.Array) -> pyarrow.Array:
    import pyarrow
    from pyarrow import compute

    if not compute.any(compute.match_substring_regex(column, "[\\\\\t\n\r\\x00]")).as_py():
        return column
    values = [None if each is None else _escaped(each) for each in column.to_pylist()]
    return pyarrow.array(values, pyarrow.large_string())


def _escaped(text: str) -> str:
    return escaped(text.encode(errors="surrogatepass")).decode(errors="surrogatepass")


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, default=_plain)


def _plain(value: Any) -> object:
    """A value within a list or a structure that JSON does not have."""
    if isinstance(value, bytes):
        return f"0x{value.hex()}"
    return str(value)


def _begins_parquet(head: bytes) -> bool:
    # A text may begin with the same letters.
    return head.startswith(b"PAR1") and head[4:5] != b"" and head[4] in _NO_TEXT


_UNKNOWN = "Times with a zone are written in UTC; lists, structures and maps are JSON text."


def _of(name: str, label: str, endings: tuple[str, ...], begins: Any, opened: Any) -> Format:
    def layout(contents: Contents, _wanted: Wanted) -> Layout:
        return _layout(contents, opened)

    def convert(contents: Contents, _dialect: Dialect) -> Iterator[Piece]:
        return _convert(contents, opened)

    return Format(name, label, endings, begins, layout, convert, (), _UNKNOWN)


PARQUET = _of("parquet", "Parquet", (".parquet", ".pq"), _begins_parquet, _parquet)
ARROW = _of("arrow", "Arrow", (".arrow", ".feather"), lambda head: head.startswith(b"ARROW1\0"), _arrow)

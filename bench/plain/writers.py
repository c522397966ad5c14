"""Programs that write plain files: their own code where it can be called here, else their rules."""

import csv
import io
import re
from collections.abc import Callable, Sequence
from decimal import Decimal
from functools import partial
from importlib.util import find_spec
from typing import Any

from importer.engine.schema.table import Table

TEXT = "text"
Rows = Sequence[Sequence[str]]
Writer = Callable[[Table, Rows], bytes]

_ESCAPED = re.compile(r"\\[0abfnrtvZ\\]")
# What a program keeps as a number, which it writes as `str` of it.
_NUMBERS: dict[str, Callable[[str], Any]] = {"int": int, "bigint": int, "decimal": Decimal, "double": float}


def missing() -> tuple[str, ...]:
    """The packages that are not installed; csv.writer stands in for their writers."""
    return tuple(name for name in ("pandas", "duckdb", "pyarrow") if not find_spec(name))


def _by_csv(table: Table, rows: Rows, **options: Any) -> bytes:
    text = io.StringIO()
    csv.writer(text, **options).writerows([table.column_names, *rows])
    return text.getvalue().encode()


def _with_numbers(table: Table, rows: Rows, quoting: int) -> bytes:
    """By csv.writer, whose values are numbers where the column is one: texts are quoted, numbers are not."""
    kept = [_NUMBERS.get(each.kind, str) for each in table.columns]
    return _by_csv(table, [[of(value) for of, value in zip(kept, row, strict=True)] for row in rows], quoting=quoting)


def _never_quoted(table: Table, rows: Rows) -> bytes:
    """By csv.writer without quotes, where no value needs them; else with those that are needed."""
    try:
        return _by_csv(table, rows, quoting=csv.QUOTE_NONE)
    except csv.Error:
        return _by_csv(table, rows)


def _by_tabs(table: Table, rows: Rows) -> bytes:
    """With tabs; in quotes where else a server could have written the file (docs/reading.md)."""
    texts = [value for row in rows for value in row if "\\" in value]
    of_server = bool(texts) and not any("\\" in _ESCAPED.sub("", value) for value in texts)
    return _by_csv(table, rows, delimiter="\t", quoting=csv.QUOTE_ALL if of_server else csv.QUOTE_MINIMAL)


def _by_pandas(table: Table, rows: Rows, **options: Any) -> bytes:
    """By to_csv. Where lines end in LF, csv.writer of Python 3.11 leaves a CR in a value without quotes."""
    import pandas

    frame = pandas.DataFrame(list(rows), columns=list(table.column_names), dtype=object)
    for number, column in enumerate(table.columns):
        if column.kind == "int" and len(rows):
            frame.isetitem(number, frame.iloc[:, number].astype("int64"))
    written: bytes = frame.to_csv(index=False, **options).encode()
    return written


def _by_duckdb(table: Table, rows: Rows) -> bytes:
    import tempfile
    from pathlib import Path

    import duckdb

    with tempfile.TemporaryDirectory() as folder, duckdb.connect() as connection:
        names = ", ".join('"' + name.replace('"', '""') + '" VARCHAR' for name in table.column_names)
        connection.execute(f"CREATE TABLE t ({names})")
        for row in rows:
            connection.execute(f"INSERT INTO t VALUES ({', '.join('?' * len(row))})", list(row))
        connection.execute(f"COPY t TO '{folder}/t.csv' (FORMAT csv, HEADER)")
        return (Path(folder) / "t.csv").read_bytes()


def _by_arrow(table: Table, rows: Rows, quoting: str) -> bytes:
    import pyarrow
    from pyarrow import csv as arrow_csv

    columns = [pyarrow.array([row[number] for row in rows], pyarrow.string()) for number in range(len(table.columns))]
    out = io.BytesIO()
    options = arrow_csv.WriteOptions(quoting_style=quoting, quoting_header=quoting)
    arrow_csv.write_csv(pyarrow.table(columns, names=list(table.column_names)), out, options)
    return out.getvalue()


def _copy_csv(table: Table, rows: Rows) -> bytes:
    r"""As PostgreSQL's COPY ... CSV HEADER: an empty text is quoted, and `\.` in a table of one column."""
    alone = len(table.columns) == 1
    lines = (",".join(_copied(value, alone) for value in row) + "\n" for row in rows)
    return "".join((",".join(_copied(name, alone) for name in table.column_names) + "\n", *lines)).encode()


def _copied(value: str, alone: bool) -> str:
    needed = not value or (alone and value == "\\.") or any(mark in value for mark in ',"\r\n')
    return _quoted(value) if needed else value


def _excel(table: Table, rows: Rows, delimiter: str = ",") -> bytes:
    """As Excel's "CSV UTF-8": a byte order mark, and the delimiter of the country."""
    return b"\xef\xbb\xbf" + _by_csv(table, rows, delimiter=delimiter)


def _texts_quoted(table: Table, rows: Rows) -> bytes:
    """As LibreOffice with "Quote all text cells", and R: texts in quotes, numbers without."""
    lines = ([value if _is_number(value) else _quoted(value) for value in row] for row in rows)
    return "".join(",".join(line) + "\n" for line in [map(_quoted, table.column_names), *lines]).encode()


def _quoted(value: str) -> str:
    return '"' + value.replace('"', '""') + '"'


def _is_number(value: str) -> bool:
    return value.lstrip("-").replace(".", "", 1).isdigit() and value.isascii()


def _libreoffice(table: Table, rows: Rows) -> bytes:
    """As LibreOffice without "Quote all text cells": quotes where the delimiter, a quote or a line feed is."""
    lines = (",".join(_quoted(v) if any(mark in v for mark in ',"\r\n') else v for v in row) for row in rows)
    head = ",".join(_quoted(name) if any(mark in name for mark in ',"') else name for name in table.column_names)
    return "".join(line + "\n" for line in (head, *(line or '""' for line in lines))).encode()


_OF_PACKAGES: dict[str, tuple[str, Writer]] = {
    "pandas": ("pandas", partial(_by_pandas, lineterminator="\r\n")),
    "pandas, all quoted": ("pandas", partial(_by_pandas, quoting=csv.QUOTE_ALL)),
    "pandas, semicolons": ("pandas", partial(_by_pandas, sep=";", lineterminator="\r\n")),
    "DuckDB": ("duckdb", _by_duckdb),
    "Arrow": ("pyarrow", partial(_by_arrow, quoting="needed")),
    "Arrow, all quoted": ("pyarrow", partial(_by_arrow, quoting="all_valid")),
}
WRITERS: dict[str, Writer] = {
    "csv.writer": _by_csv,
    "csv.writer, all quoted": partial(_by_csv, quoting=csv.QUOTE_ALL),
    "csv.writer, all quoted, LF": partial(_by_csv, quoting=csv.QUOTE_ALL, lineterminator="\n"),
    "csv.writer, texts quoted": partial(_with_numbers, quoting=csv.QUOTE_NONNUMERIC),
    "csv.writer, never quoted": _never_quoted,
    "csv.writer, semicolons": partial(_by_csv, delimiter=";"),
    "csv.writer, tabs": _by_tabs,
    "csv.writer, bars": partial(_by_csv, delimiter="|"),
    "COPY CSV": _copy_csv,
    "Excel": _excel,
    "Excel, semicolons": partial(_excel, delimiter=";"),
    "LibreOffice": _libreoffice,
    "texts quoted": _texts_quoted,
    **{name: writer if find_spec(package) else _by_csv for name, (package, writer) in _OF_PACKAGES.items()},
}

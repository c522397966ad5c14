"""The flights of 2013, and the same rows in every format."""

import csv
import io
import json
from collections.abc import Iterable, Sequence
from datetime import datetime
from hashlib import sha256
from itertools import groupby, islice
from operator import itemgetter
from pathlib import Path

import pyarrow as pa
from pyarrow import ipc, parquet

from importer.engine.mysql.connection import Connection, fetch_all
from scripts.flights import ROWS, TABLE, flights_file
from tests.importer.formats.workbooks import write_ods, write_xlsx
from tests.stack import ROOT

COLUMNS = tuple(line.split()[0] for line in TABLE.split("\n")[2:21])
MONTHS = range(1, 13)
NULL = "NA"
ROWS_AN_INSERT = 1000
Flight = tuple[int | str | datetime | None, ...]


def flights(count: int) -> list[Flight]:
    """The first flights of each month, about `count` in all, or every one."""
    of_each = None if count >= ROWS else -(-count // len(MONTHS))
    with flights_file(ROOT / "var" / "demo").open(newline="") as file:
        rows = csv.reader(file)
        next(rows)
        months = groupby(rows, itemgetter(COLUMNS.index("month")))
        return [_typed(row) for _, of_month in months for row in islice(of_month, of_each)]


def _typed(row: Sequence[str]) -> Flight:
    """The values of a row: numbers, texts, a time, and None for those that are not known."""
    *values, hour = row
    typed = [None if value == NULL else int(value) if value.lstrip("-").isdigit() else value for value in values]
    return (*typed, datetime.fromisoformat(hour).replace(tzinfo=None))


def digest_of(rows: Iterable[Flight]) -> tuple[int, str]:
    """The number of rows, and the exclusive or of the first 64 bits of the SHA-256 of each row's text."""
    count = found = 0
    for row in rows:
        text = ",".join("NULL" if value is None else str(value) for value in row)
        count, found = count + 1, found ^ int(sha256(text.encode()).hexdigest()[:16], 16)
    return count, f"{found:016X}"


def stored_digest(connection: Connection) -> tuple[int, str]:
    """The same of the rows of the table flights, as the server computes it; both kinds of server agree."""
    text = ", ".join(f"COALESCE({name}, 'NULL')" for name in COLUMNS)
    bits = f"CAST(CONV(LEFT(SHA2(CONCAT_WS(',', {text}), 256), 16), 16, 10) AS UNSIGNED)"
    ((count, found),) = fetch_all(connection, f"SELECT COUNT(*), LPAD(HEX(BIT_XOR({bits})), 16, '0') FROM flights")
    return int(count), str(found)


def write_csv(path: Path, rows: Iterable[Flight]) -> None:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows([NULL if value is None else value for value in row] for row in rows)
    path.write_text(text.getvalue())


def write_months(folder: Path, rows: Iterable[Flight]) -> None:
    """A CSV file for each month: flights-01.csv, ..."""
    month = itemgetter(COLUMNS.index("month"))
    for number, of_month in groupby(sorted(rows, key=month), month):
        write_csv(folder / f"flights-{number:02}.csv", of_month)


def write_jsonl(path: Path, rows: Iterable[Flight]) -> None:
    with path.open("w") as file:
        file.writelines(json.dumps(dict(zip(COLUMNS, row, strict=True)), default=str) + "\n" for row in rows)


def write_json(path: Path, rows: Iterable[Flight]) -> None:
    path.write_text(json.dumps([dict(zip(COLUMNS, row, strict=True)) for row in rows], default=str, indent=1))


def write_sql(path: Path, rows: Iterable[Flight]) -> None:
    """A dump with the table, and as many rows in each INSERT as mysqldump writes."""
    literals = ("(" + ",".join("NULL" if value is None else f"'{value}'" for value in row) + ")" for row in rows)
    with path.open("w") as file:
        file.write(f"{TABLE};\n")
        while some := list(islice(literals, ROWS_AN_INSERT)):
            file.write(f"INSERT INTO `flights` VALUES {','.join(some)};\n")


def write_workbook(path: Path, rows: Iterable[Flight]) -> None:
    write_xlsx(path, {"flights": (COLUMNS, *rows)})


def write_spreadsheet(path: Path, rows: Iterable[Flight]) -> None:
    write_ods(path, {"flights": (COLUMNS, *rows)})


def write_columns(path: Path, rows: Iterable[Flight]) -> None:
    table = pa.table(dict(zip(COLUMNS, map(list, zip(*rows, strict=True)), strict=True)))
    if path.suffix == ".parquet":
        parquet.write_table(table, path)
        return
    with pa.OSFile(str(path), "wb") as out, ipc.new_file(out, table.schema) as writer:
        writer.write_table(table)


WRITERS = {
    "csv": write_csv,
    "jsonl": write_jsonl,
    "json": write_json,
    "sql": write_sql,
    "xlsx": write_workbook,
    "ods": write_spreadsheet,
    "parquet": write_columns,
    "arrow": write_columns,
}

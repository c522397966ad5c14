"""Rows like those of the flights, and the same rows in every format."""

import csv
import datetime
import io
import json
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
from pyarrow import ipc, parquet

from scripts.flights import TABLE
from tests.importer.formats.workbooks import write_ods, write_xlsx

COLUMNS = tuple(line.split()[0] for line in TABLE.split("\n")[2:21])
Flight = tuple[int | str | datetime.datetime | None, ...]


def flights(count: int) -> Iterator[Flight]:
    """Flights of 2013, every seventh of which did not take off."""
    begin = datetime.datetime(2013, 1, 1, 5)
    for n in range(count):
        hour = begin + datetime.timedelta(hours=n // 50)
        gone = n % 7 > 0
        yield (
            hour.year, hour.month, hour.day, n % 2400 if gone else None, n % 2400, n % 90 - 10 if gone else None,
            n % 2399 if gone else None, n % 2399, n % 120 - 30 if gone else None, ("UA", "AA", "9E")[n % 3], n % 9000,
            f"N{n % 100000}" if gone else None, ("EWR", "LGA", "JFK")[n % 3], ("IAH", "MIA")[n % 2],
            n % 500 if gone else None, n % 4000, hour.hour, n % 60, hour,
        )  # fmt: skip


def write_csv(path: Path, rows: list[Flight]) -> None:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows(["NA" if value is None else value for value in row] for row in rows)
    path.write_text(text.getvalue())


def write_jsonl(path: Path, rows: list[Flight]) -> None:
    path.write_text("".join(json.dumps(dict(zip(COLUMNS, row, strict=True)), default=str) + "\n" for row in rows))


def write_json(path: Path, rows: list[Flight]) -> None:
    path.write_text(json.dumps([dict(zip(COLUMNS, row, strict=True)) for row in rows], default=str, indent=1))


def write_sql(path: Path, rows: list[Flight]) -> None:
    literals = ("(" + ",".join("NULL" if v is None else f"'{v}'" for v in row) + ")" for row in rows)
    path.write_text(f"{TABLE};\nINSERT INTO `flights` VALUES " + ",".join(literals) + ";\n")


def write_workbook(path: Path, rows: list[Flight]) -> None:
    write_xlsx(path, {"flights": [COLUMNS, *rows]})


def write_spreadsheet(path: Path, rows: list[Flight]) -> None:
    write_ods(path, {"flights": [COLUMNS, *rows]})


def write_columns(path: Path, rows: list[Flight]) -> None:
    table = pa.Table.from_pylist([dict(zip(COLUMNS, row, strict=True)) for row in rows])
    if path.suffix == ".parquet":
        parquet.write_table(table, path)
        return
    with pa.OSFile(str(path), "wb") as out, ipc.new_file(out, table.schema) as writer:
        writer.write_table(table)


WRITERS = {
    "jsonl": write_jsonl,
    "json": write_json,
    "sql": write_sql,
    "xlsx": write_workbook,
    "ods": write_spreadsheet,
    "parquet": write_columns,
    "arrow": write_columns,
}

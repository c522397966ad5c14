"""A new table stores any values of a file's columns: texts unchanged, numbers and dates with their values."""

import csv
import random
from collections.abc import Callable
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path

import pytest

from importer.engine.mapping.columns import ColumnMapping
from importer.engine.mapping.new_table.typed_values import reader
from importer.engine.mysql.connection import connect
from importer.engine.plan.options import Options
from importer.engine.schema.table import read_table
from tests.importer.steps import import_of, run
from tests.importer.worker.test_create_mode import told

pytestmark = pytest.mark.usefixtures("no_workers")

COLUMNS, NULL = 16, ""


def kinds_of_values(chosen: random.Random) -> dict[str, Callable[[], str]]:
    """Makers of values, as exporters write them, by name."""
    number = chosen.randint

    def day(form: str) -> Callable[[], str]:
        return lambda: datetime(number(1990, 2030), number(1, 12), number(1, 28), number(0, 23), 5).strftime(form)

    def grouped(separator: str, mark: str) -> Callable[[], str]:
        return lambda: f"{number(0, 10**8):,}".replace(",", separator) + (f"{mark}{number(0, 99):02}" if mark else "")

    return {
        "iso day": day("%Y-%m-%d"), "german day": day("%d.%m.%Y"), "american day": day("%m/%d/%Y"),
        "short year": day("%d.%m.%y"), "moment": day("%d.%m.%Y %H:%M"), "iso moment": day("%Y-%m-%dT%H:%M:%SZ"),
        "day as number": day("%Y%m%d"), "clock": day("%H:%M"),
        "whole": lambda: str(number(-5, 10**17)), "long": lambda: str(number(0, 2**70)),
        "bit": lambda: chosen.choice("01"),
        "leading zeros": lambda: f"{number(0, 99999):05}", "plus": lambda: f"+{number(1, 999)}",
        "padded": lambda: f"{number(0, 999):>5}", "version": lambda: f"1.{number(0, 20)}",
        "exponent": lambda: f"{number(1, 99)}e{number(1, 5)}", "scientific": lambda: f"{chosen.random():.3e}",
        "amount": lambda: f"{chosen.random() * 1000:.2f}", "shortest": lambda: repr(round(chosen.random() * 9, 3)),
        "mixed": lambda: f"{chosen.random() * 9:.{number(0, 3)}f}",
        "negative zero": lambda: chosen.choice(["-0", "0", "5"]),
        "german": grouped(".", ","), "american": grouped(",", "."), "swiss": grouped("'", "."),
        "dots": grouped(".", ""), "commas": grouped(",", ""), "open point": lambda: chosen.choice([".5", "5.", "1.5"]),
        "words": lambda: chosen.choice(["a", "b c", " d ", "é", "10 kg", "yes"]),
        "hex": lambda: f"0x{number(0, 65535):04X}",
    }  # fmt: skip


def written(path: Path, chosen: random.Random) -> dict[str, list[str]]:
    """Write a file of columns of random kinds; some have no value in places, some another kind after the sample."""
    makers = kinds_of_values(chosen)
    rows = chosen.choice([3, 30, 1500])
    columns = {}
    for name in chosen.sample(sorted(makers), COLUMNS):
        empty = chosen.choice([0, 0, 0.2])
        late = makers[chosen.choice(sorted(makers))] if chosen.random() < 0.2 else makers[name]
        make = [makers[name]] * 1200 + [late] * rows
        columns[name] = [NULL if chosen.random() < empty else make[row]() for row in range(rows)]
    with path.open("w", newline="") as file:
        out = csv.writer(file, delimiter=chosen.choice(",;\t"))
        out.writerow(["row", *columns])
        out.writerows(zip(map("r{}".format, range(rows)), *columns.values(), strict=True))
    return columns


def expected(text: str, how: ColumnMapping, column) -> object:
    """The value that the column should have for a text of the file."""
    if text.strip() in how.null_markers:
        return None
    read = reader(how, column)(text)
    family = column.column_type.family.value
    if family in ("integer", "decimal"):
        return Decimal(read)
    if family == "floating":
        return pytest.approx(float(read), rel=1e-12)
    if family == "date":
        return date.fromisoformat(read)
    return datetime.fromisoformat(read.removesuffix("Z")) if family == "moment" else text


@pytest.mark.parametrize("seed", range(6))
def test_each_value_arrives_as_it_is_written_or_as_its_mapping_reads_it(target, tmp_path, seed):
    path = tmp_path / "made.csv"
    columns = written(path, random.Random(seed))
    options = Options(mode="create", on_error="reject", max_rejects=1500)
    job = run(import_of(path, target, "made", options=options, known_format={"header": True}, accept_guesses=True))
    assert job.problem == {}
    stored = {int(row[0][1:]): row[1:] for row in told(target, "SELECT * FROM made")}
    assert len(stored) + job.rejected_rows == len(next(iter(columns.values())))
    with connect(target.address) as connection:
        table = read_table(connection, target.database, "made")
    for at, (name, texts) in enumerate(columns.items()):
        column, how = table.columns[at + 1], job.mapping[at + 1]
        # Few numbers may have no zero in front.
        if name in ("plus", "exponent") or (name == "leading zeros" and any(text.startswith("0") for text in texts)):
            assert column.charset, f"{name} is {column.type}"
        for row, values in stored.items():
            assert values[at] == expected(texts[row], how, column), f"{name} {column.type}, row {row}"

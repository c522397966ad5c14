"""Files with bad rows at known lines, made at random: each of them is found, every other row is in with its values.

CASES sets how many files there are for each server; a seed that fails is in the test's name.
"""

import os
import random
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest

from importer.engine.load.outcome import Tally
from importer.engine.mysql.connection import Address
from importer.engine.plan.options import Options
from tests.engine.loads import Unchecked, load_bytes, rows_of, run_sql

pytestmark = pytest.mark.both_servers

CASES = int(os.environ.get("CASES", "8"))
CREATE = (
    "CREATE TABLE t (id INT PRIMARY KEY, name VARCHAR(5) NOT NULL, born DATE, price DECIMAL(7,2), parent INT, code INT,"
    " UNIQUE KEY by_code (code), CHECK (price < 9000), FOREIGN KEY (parent) REFERENCES p (id))"
    " CHARACTER SET utf8mb4"
)
FIELDS = ("id", "name", "born", "price", "parent", "code")
NAMES = ["a", "bé", "", '"x\ny"', '"q""q"', '"a,b"', "東京"]
SPOILT = {
    "id": ["x", "1.5x", "99999999999"],
    "name": ["toolong", '"also\ntoo long"'],
    "born": ["2023-02-29", "soon"],
    "price": ["1,5x", "9000.00", "100000", "one"],
    "parent": ["7", "x"],
    "code": ["x"],
}


@dataclass
class File:
    """Its lines, and by the model: the rows that go in, and the lines of those that do not."""

    data: bytes
    rows: list[tuple]
    bad_lines: list[int]
    raw: bytes
    skipped: int


def given_file(chance: random.Random, duplicates_skip: bool) -> File:
    records, rows, bad = [], [], []
    line, used = 1, {"id": set(), "code": set()}
    share = chance.choice([0, 0.01, 0.1, 0.5, 0.95])
    for number in range(chance.randrange(1, 400)):
        values = _good_values(chance, number)
        spoil = chance.random() < share
        kind = chance.choice(["value", "value", "short", "long", "duplicate"]) if spoil else ""
        if kind == "value":
            column = chance.choice(FIELDS)
            values[column] = chance.choice(SPOILT[column])
            if "," in values[column] and not values[column].startswith('"'):
                kind = "long"
        if kind == "duplicate":
            key = chance.choice(["id", "code"])
            if used[key]:
                values[key] = str(chance.choice(sorted(used[key])))
            else:
                kind = ""
        fields = list(values.values())
        fields = fields[:-1] if kind == "short" else [*fields, "more"] if kind == "long" else fields
        record = (",".join(fields) + "\n").encode()
        records.append(record)
        if kind:
            bad.append((line, record, kind))
        else:
            rows.append(_stored(values))
            used["id"].add(int(values["id"]))
            used["code"].add(int(values["code"]))
        line += record.count(b"\n")
    rejected = [record for _, record, kind in bad if not (duplicates_skip and kind == "duplicate")]
    return File(b"".join(records), rows, [at for at, _, _ in bad], b"".join(rejected), len(bad) - len(rejected))


def _good_values(chance: random.Random, number: int) -> dict[str, str]:
    return {
        "id": str(number),
        "name": chance.choice(NAMES),
        "born": f"2024-{chance.randrange(1, 13):02d}-{chance.randrange(1, 29):02d}",
        "price": f"{chance.randrange(900_000) / 100:.2f}",
        "parent": str(chance.randrange(3)),
        "code": str(1000 + number),
    }


def _stored(values: dict[str, str]) -> tuple:
    name = values["name"]
    return (
        int(values["id"]),
        name[1:-1].replace('""', '"') if name.startswith('"') else name,
        date.fromisoformat(values["born"]),
        Decimal(values["price"]),
        int(values["parent"]),
        int(values["code"]),
    )


@pytest.mark.parametrize("seed", range(CASES))
def test_every_row_is_accounted_for(database: Address, tmp_path: Path, seed: int):
    chance = random.Random(seed)
    skip = chance.random() < 0.3
    file = given_file(chance, duplicates_skip=skip)
    options = chance.choice([Options, Unchecked])(on_error="reject", on_duplicate="skip" if skip else "fail")
    run_sql(database, "CREATE TABLE p (id INT PRIMARY KEY)", "INSERT INTO p VALUES (0), (1), (2)", CREATE)
    chunk_bytes = chance.choice([300, 3000, 2**20])
    loaded = load_bytes(database, tmp_path, file.data, FIELDS, options, chunk_bytes=chunk_bytes)
    assert loaded.lines == file.bad_lines
    assert loaded.raw == file.raw
    assert rows_of(database, "SELECT * FROM t ORDER BY id") == file.rows
    assert loaded.tally == Tally(len(file.rows), skipped=file.skipped, rejected=len(file.bad_lines) - file.skipped)

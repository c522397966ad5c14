"""Rows with problems are found before an import, in plain and packed files, and in the first part of a large one."""

import gzip
from pathlib import Path

import pytest

from importer.engine.mapping.columns import ColumnMapping
from importer.engine.schema.table import Column, Table
from importer.engine.source.profile.profile import profile_file
from importer.engine.validation import ValidationRules
from importer.preparation import row_problems
from importer.preparation.row_problems import MOST_KEPT, RowProblems, find_row_problems

TABLE = Table("d", "t", "InnoDB", tuple(Column(name, "int", True, None, False, False) for name in ("a", "b")))
MAPPING = (ColumnMapping("a"), ColumnMapping("b"))


def found(path: Path) -> RowProblems:
    profile = profile_file(path)
    rules = ValidationRules.of(profile.dialect.plain, MAPPING, TABLE, mariadb=True, rounding="notice")
    return find_row_problems(path, profile, rules, MAPPING)


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_line_values_field_and_reason(tmp_path: Path, pack):
    path = tmp_path / "t.csv"
    path.write_bytes(pack(b'a,b\n1,2\n3,"x\ny"\n4\n5,6\n'))
    problems = found(path)
    assert (problems.scanned, problems.whole, problems.count) == (4, True, 2)
    assert [(each.line, each.values, each.field) for each in problems.rows] == [
        (3, ("3", "x\ny"), 1),
        (5, ("4",), None),
    ]
    assert problems.rows[1].reason == "The row has 1 field instead of 2."


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_a_large_file_is_not_read_as_a_whole(tmp_path: Path, pack, monkeypatch):
    monkeypatch.setattr(row_problems, "SCANNED_BYTES", 2**20)
    path = tmp_path / "t.csv"
    path.write_bytes(pack(b"a,b\n" + b"1,x\n" * 2**19))
    problems = found(path)
    assert not problems.whole
    assert problems.count == problems.scanned < 2**19
    assert len(problems.rows) == MOST_KEPT

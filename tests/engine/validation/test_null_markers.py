"""The scan finds each NULL marker that the faster statement does not compare."""

from itertools import product

import pytest

from importer.engine.native import loader
from importer.engine.schema.value_kinds import NULL_WORDS
from importer.engine.source.chunks.chunk_sizes import ChunkSizes
from importer.engine.source.chunks.scanner import ScanPolicy, scan
from importer.engine.source.dialect import RFC4180, Dialect
from importer.engine.source.records.blocks import Block, blocks
from importer.engine.validation import FieldCheck, ValidationRules
from tests.engine.reference import in_file
from tests.engine.validation.test_validator import DIALECTS, written

TYPES = (
    *("tinyint", "smallint unsigned", "int", "bigint", "decimal(5,2)", "decimal(5,0) unsigned", "float", "double"),
    *("float(7,3)", "year", "date", "datetime", "datetime(6)", "timestamp", "time", "time(6)"),
)
MARKERS = (*NULL_WORDS, " ", "inf", "-inf", "+", ".", "e", "now", ":", "T")


def rules_of(dialect: Dialect, check: FieldCheck, mariadb: bool = True) -> ValidationRules:
    return ValidationRules(dialect, (check, FieldCheck("t", "varchar(9)", null_markers=("NA",))), mariadb)


def blocks_of(dialect: Dialect, value: str, *, quoting: bool = False) -> list[Block]:
    data = written(dialect, [[value, "x"]], quoting)
    with in_file(data) as fd:
        return list(blocks(fd, dialect, 0, 1, len(data)))


def may_have(rules: ValidationRules, looked_at: list[Block]) -> bool:
    return any(rules.look(each).may_have_null_marker() for each in looked_at)


def is_null_in_the_dialect(dialect: Dialect, value: str, quoting: bool) -> bool:
    unquoted = not (quoting and dialect.quote)
    return (value == r"\N" and bool(dialect.escape)) or (not value and dialect.unquoted_empty_is_null and unquoted)


@pytest.mark.thorough
@pytest.mark.parametrize("library", [True, False], ids=["C", "Python"])
@pytest.mark.parametrize("dialect", DIALECTS, ids=repr)
def test_each_marker_without_a_digit_is_found(monkeypatch: pytest.MonkeyPatch, dialect: Dialect, library: bool):
    if not library:
        monkeypatch.setattr(loader, "library", lambda: None)
    files = {each: blocks_of(dialect, each[0], quoting=each[1]) for each in product(MARKERS, (True, False))}
    for type_, mariadb in product(TYPES, (True, False)):
        rules = rules_of(dialect, FieldCheck("a", type_, null_markers=MARKERS), mariadb)
        for (marker, quoting), looked_at in files.items():
            found = may_have(rules, looked_at)
            assert found or is_null_in_the_dialect(dialect, marker, quoting), (type_, marker, mariadb, quoting)


@pytest.mark.parametrize(
    ("type_", "value"), [("int", "7"), ("double", "1e3"), ("date", "2024-01-31"), ("time", "1:02")]
)
def test_a_number_or_time_is_none(type_: str, value: str):
    assert not may_have(rules_of(RFC4180, FieldCheck("a", type_, null_markers=MARKERS)), blocks_of(RFC4180, value))


@pytest.mark.parametrize(
    "check",
    [
        FieldCheck("a", "int", null_markers=("-1",)),
        FieldCheck("a", "int", null_markers=("",), transforms=("thousands-comma",)),
        FieldCheck("a", "date", null_markers=("",), datetime_format="%d.%m.%Y"),
        FieldCheck("a", "bit(8)", null_markers=("",)),
        FieldCheck("a", "varchar(9)", null_markers=("",)),
    ],
    ids=repr,
)
def test_a_marker_that_the_scan_might_miss_is_always_compared(check: FieldCheck):
    assert ValidationRules(RFC4180, (check,), True).without_markers is None


@pytest.mark.parametrize("checked", [True, False])
def test_only_chunks_with_a_marker_have_one(checked: bool):
    rules = ValidationRules(RFC4180, (FieldCheck("a", "int", null_markers=("",)), FieldCheck("b", "int")), True)
    data = b"1,2\n" * 150 + b",2\n" * 2 + b"1,2\n" * 250
    policy = ScanPolicy(exactness=rules if checked else None, block_bytes=64)
    with in_file(data) as fd:
        chunks = list(scan(fd, RFC4180, ChunkSizes(400), end=len(data), policy=policy))
    assert len(chunks) > 3
    for each in chunks:
        has_marker = b"\n,2" in data[each.offset : each.end]
        assert each.null_marker is (has_marker or not checked)
        assert not each.suspect


def test_a_block_of_two_chunks_marks_both():
    rules = ValidationRules(RFC4180, (FieldCheck("a", "int", null_markers=("",)), FieldCheck("b", "int")), True)
    data = b"1,2\n" * 10 + b",2\n" + b"1,2\n" * 10
    with in_file(data) as fd:
        chunks = list(scan(fd, RFC4180, ChunkSizes(40), end=len(data), policy=ScanPolicy(exactness=rules)))
    assert [each.null_marker for each in chunks] == [True] * len(chunks)

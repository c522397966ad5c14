"""native/src/fast_path.c accepts no value as usual that needs a closer look, and knows the common values of files."""

import csv
import io
import json
import re
from calendar import isleap

import pytest
from hypothesis import given
from hypothesis import strategies as st

from importer.engine.source.dialect import MYSQL_TSV, Dialect
from importer.engine.source.records.blocks import blocks
from importer.engine.validation import FieldCheck, ValidationRules
from importer.engine.validation.fast_path import FastPath
from importer.engine.validation.record_layout import lay_out
from tests.engine.reference import in_file
from tests.engine.validation.fast_path_cases import (
    DIALECTS,
    USUAL,
    VALUES,
    all_usual,
    block_of,
    is_usual,
    needs_library,
)
from tests.examples import examples


@needs_library
@pytest.mark.parametrize("mariadb", [True, False])
@pytest.mark.parametrize("type_", USUAL)
def test_nothing_is_usual_that_has_a_fault(type_: str, mariadb: bool):
    for dialect in DIALECTS:
        for nullable, markers in ((False, ()), (True, ("NA",)), (True, ("",)), (False, ("",))):
            check = FieldCheck("a", type_, nullable, markers)
            exactness = ValidationRules(dialect, (FieldCheck(""), check), mariadb)
            end = (dialect.delimiter if dialect.trailing_delimiter else "") + dialect.line_end
            usual = [value for value in VALUES if is_usual(exactness, f"x{dialect.delimiter}{value}{end}".encode())]
            assert USUAL[type_] in usual
            assert ("NA" in usual) == (markers == ("NA",) or type_.startswith(("var", "char")))
            assert (r"\N" in usual) == (nullable if dialect.escape else type_.startswith(("var", "char")))
            if dialect.quote:
                inside = [value for value in VALUES if '"' not in value]
                records = (f'"x"{dialect.delimiter}"{value}"{end}' for value in inside)
                assert any(is_usual(exactness, record.encode()) for record in records)
            if dialect.unquoted_empty_is_null:
                assert ("" in usual) == nullable


@needs_library
@pytest.mark.parametrize("type_", ["int", "bigint unsigned", "decimal(9,3)", "double"])
def test_zeros_and_points_without_need_are_unusual_where_they_are_not_wanted(type_: str):
    rules = ValidationRules(Dialect(), (FieldCheck("a", type_),), mariadb=True).validator.rules
    usual = FastPath.of(Dialect(), rules, plain=True)

    def among_others(value: str) -> bool:
        return all_usual(usual, (f"1\n{value}\n" + "2\n" * 99).encode())

    for value in (
        "0",
        "10",
        "100",
        *(["0.5", "-0.5", "10.05"] if type_[0] == "d" else []),
        *(["-7"] if type_ == "int" else []),
    ):
        assert among_others(value)
    for value in ("00", "01", "-01", "007", "00.5", "01.5", "-00.5", "1.", ".5", "-.5"):
        assert not among_others(value)


@needs_library
@examples(300)
@given(numbers=st.lists(st.floats(1e-4, 1e15), min_size=1, max_size=20), digits=st.integers(1, 16))
def test_doubles_are_usual_as_they_are_printed(numbers, digits):
    exactness = ValidationRules(Dialect(), (FieldCheck("a", "double"),), mariadb=True)
    assert is_usual(exactness, "".join(f"{number!r}\n-{number!r}\n" for number in numbers).encode())
    single = ValidationRules(Dialect(), (FieldCheck("a", "float"),), mariadb=True)
    for number in numbers:  # with more digits than they have, or fewer
        for form in "fe":
            is_usual(exactness, f"{number:.{digits}{form}}\n".encode())
            is_usual(single, f"{number:.{digits}{form}}\n".encode())


@needs_library
@pytest.mark.parametrize(("type_", "clock"), [("date", ""), ("datetime", " 12:00:00"), ("datetime", "T12:00:00")])
def test_each_leap_day_is_usual_and_no_other(type_: str, clock: str):
    exactness = ValidationRules(Dialect(), (FieldCheck("a", type_),), mariadb=True)
    days = [f"{year:04}-02-29{clock}" for year in range(10_000)]
    wanted = [bool(year) and isleap(year) for year in range(10_000)]
    assert [is_usual(exactness, f"{day}\n".encode()) for day in days] == wanted
    data = "\n".join(days).encode()
    block = block_of(data, exactness.dialect)
    cells = lay_out(block, exactness.dialect, 1).cells([0])
    unusual = {*exactness.validator.rules[0].unusual(cells).tolist()}
    assert [number not in unusual for number in range(10_000)] == wanted


@needs_library
@examples(300)
@given(rows=st.lists(st.tuples(*[st.sampled_from(VALUES)] * 2, st.sampled_from(["\n", ""])), min_size=1, max_size=9))
def test_any_cut_and_any_neighbour(rows):
    data = "".join(f"{first},{second}{end or ','}" for first, second, end in rows).encode()
    checks = (FieldCheck("a", "int", True, ("",)), FieldCheck("b", "varchar(4)"))
    exactness = ValidationRules(Dialect(blank_lines="keep"), checks, mariadb=True)
    with in_file(data) as fd:
        found = list(blocks(fd, exactness.dialect, 0, 1, data.rfind(b"\n") + 1))
    for block in found:
        slow = exactness.validator.examine_one_by_one(block)
        assert not exactness.validator.fast_path.are_all_usual(block) or not (slow.faults or slow.notices or slow.noted)


@needs_library
@examples(300)
@given(
    rows=st.lists(st.tuples(*[st.text('a",\n7', max_size=9)] * 3), min_size=1, max_size=40),
    quoting=st.sampled_from([csv.QUOTE_ALL, csv.QUOTE_MINIMAL]),
    line_end=st.sampled_from(["\n", "\r\n"]),
)
def test_what_quotes_are_needed_for_is_usual(rows, quoting, line_end):
    """Delimiters, line ends and doubled quotes: of texts that fit all are usual, of others none that has a fault."""
    out = io.StringIO(newline="")
    csv.writer(out, quoting=quoting, lineterminator=line_end).writerows(rows)
    data = out.getvalue().encode()
    wide = [FieldCheck(name, "varchar(100)") for name in "abc"]
    narrow = [
        FieldCheck("a", "varchar(4)"),
        FieldCheck("b", "int", True, ("", '"')),
        FieldCheck("c", "enum('a','a\"\"')"),
    ]
    for checks, all_fit in ((wide, True), (narrow, False)):
        exactness = ValidationRules(Dialect(line_end=line_end), tuple(checks), mariadb=True)
        block = block_of(data, exactness.dialect)
        usual = exactness.validator.fast_path.are_all_usual(block)
        assert usual or not all_fit
        slow = exactness.validator.examine_one_by_one(block)
        assert not usual or not (slow.faults or slow.notices or slow.noted)


SPELLED = [
    "1.234,50",
    "0,5",
    "-7",
    "1234567890123456",
    "0,30000000000000004",
    "1e5",
    "31.12.2024",
    "31.12.2024 12:00",
    "",
]


@needs_library
@pytest.mark.parametrize(
    ("check", "usual"),
    [
        (FieldCheck("a", "date", datetime_format="%d.%m.%Y"), SPELLED),
        (FieldCheck("a", "datetime", datetime_format="%d.%m.%Y %H:%i"), SPELLED),
        (FieldCheck("a", "double", transforms=("thousands-dot",)), ["1.234,50", "0,5", "-7", "1e5", "31.12.2024", ""]),
    ],
)
def test_what_the_mapping_reads_keeps_no_other_column_from_being_usual(check, usual):
    dialect = Dialect(delimiter=";")
    exactness = ValidationRules(dialect, (check, FieldCheck("b", "int")), mariadb=True)
    assert [value for value in SPELLED if is_usual(exactness, f"{value};7\n".encode())] == usual
    assert not is_usual(exactness, f"{usual[0]};x\n".encode())


def test_where_a_format_has_a_clock_that_a_date_drops_each_value_is_read():
    check = FieldCheck("a", "date", datetime_format="%d.%m.%Y %H:%i")
    assert ValidationRules(Dialect(), (check,), mariadb=True).validator.fast_path is None


TOLD = r'a",\N' + "\t\n7"


@needs_library
@examples(400)
@given(
    rows=st.lists(st.tuples(*[st.none() | st.text(TOLD, max_size=9)] * 3), min_size=1, max_size=40),
    dialect=st.sampled_from([MYSQL_TSV, Dialect(escape="\\"), Dialect(escape="\\", line_end="\r\n")]),
)
def test_what_escapes_are_needed_for_is_usual(rows, dialect):
    """As test_what_quotes_are_needed_for_is_usual, for what SELECT INTO OUTFILE writes."""

    def cell(value: str | None) -> str:
        if value is None:
            return r"\N"
        return dialect.quote + re.sub(r'[\\"\t\n]', r"\\\g<0>", value) + dialect.quote

    data = "".join(dialect.delimiter.join(map(cell, row)) + dialect.line_end for row in rows).encode()
    wide = [FieldCheck(name, "varchar(100)") for name in "abc"]
    narrow = [
        FieldCheck("a", "varchar(4)"),
        FieldCheck("b", "int"),
        FieldCheck("c", r"enum('a','a\\a')", nullable=False),
    ]
    for checks, all_fit in ((wide, True), (narrow, False)):
        exactness = ValidationRules(dialect, tuple(checks), mariadb=True)
        block = block_of(data, exactness.dialect)
        usual = exactness.validator.fast_path.are_all_usual(block)
        assert usual or not all_fit
        slow = exactness.validator.examine_one_by_one(block)
        assert not usual or not (slow.faults or slow.notices or slow.noted)


# Integers of more than 18 digits are not usual: the whole document is parsed then.
INTEGERS = st.integers(-(10**18) + 1, 10**18 - 1)
JSON_LIKE = st.recursive(
    st.none() | st.booleans() | INTEGERS | st.text(TOLD + "é", max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(TOLD, max_size=3), inner, max_size=3),
    max_leaves=8,
)


@needs_library
@examples(300)
@given(
    documents=st.lists(JSON_LIKE, min_size=1, max_size=9),
    dialect=st.sampled_from([MYSQL_TSV, Dialect(escape="\\"), Dialect()]),
    ascii_only=st.booleans(),
    doubled=st.booleans(),
)
def test_json_is_usual_however_it_is_escaped(documents, dialect, ascii_only, doubled):
    def cell(document: str) -> str:
        if dialect.escape:
            document = re.sub(r"[\\\t\n]" if doubled else r'[\\"\t\n]', r"\\\g<0>", document)
        if doubled or not dialect.escape:
            document = document.replace('"', '""') if dialect.quote else document
        return dialect.quote + document + dialect.quote

    texts = [json.dumps(each, ensure_ascii=ascii_only) for each in documents]
    exactness = ValidationRules(dialect, (FieldCheck("a", "json"),), mariadb=False)
    data = "".join(f"{cell(text)}\n" for text in texts).encode()
    # A key with an escape is read as a whole: two of them may be one.
    assert is_usual(exactness, data) or any("\\" in text for text in texts)
    assert not is_usual(exactness, data.replace(b":", b";")) or b":" not in data


@needs_library
@pytest.mark.parametrize(
    "dialect",
    [
        Dialect(line_end="any"),
        Dialect(delimiter="."),
        Dialect(delimiter="|-|"),
    ],
)
def test_a_dialect_that_it_does_not_know_is_left_alone(dialect: Dialect):
    assert ValidationRules(dialect, (FieldCheck("a", "int"),), mariadb=True).validator.fast_path is None

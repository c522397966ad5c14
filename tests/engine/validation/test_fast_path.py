"""native/src/fast_path.c recognizes the common values of files, and takes no value with a fault or notice for usual."""

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


@pytest.mark.thorough
@needs_library
@pytest.mark.parametrize("mariadb", [True, False])
@pytest.mark.parametrize("type_", USUAL)
def test_usual_value_has_no_fault_and_no_notice(type_: str, mariadb: bool):
    for dialect in DIALECTS:
        for nullable, markers in ((False, ()), (True, ("NA",)), (True, ("",)), (False, ("",))):
            check = FieldCheck("a", type_, nullable, markers)
            validation = ValidationRules(dialect, (FieldCheck(""), check), mariadb)
            end = (dialect.delimiter if dialect.trailing_delimiter else "") + dialect.line_end
            usual = [value for value in VALUES if is_usual(validation, f"x{dialect.delimiter}{value}{end}".encode())]
            assert USUAL[type_] in usual
            assert ("NA" in usual) == (markers == ("NA",) or type_.startswith(("var", "char")))
            assert (r"\N" in usual) == (nullable if dialect.escape else type_.startswith(("var", "char")))
            if dialect.quote:
                inside = [value for value in VALUES if '"' not in value]
                records = (f'"x"{dialect.delimiter}"{value}"{end}' for value in inside)
                assert any(is_usual(validation, record.encode()) for record in records)
            if dialect.unquoted_empty_is_null:
                assert ("" in usual) == nullable


@needs_library
@pytest.mark.parametrize("type_", ["int", "bigint unsigned", "decimal(9,3)", "double"])
def test_redundant_zeros_and_points_are_unusual_for_a_plain_fast_path(type_: str):
    rules = ValidationRules(Dialect(), (FieldCheck("a", type_),), mariadb=True).validator.rules
    fast_path = FastPath.of(Dialect(), rules, plain=True)

    def among_others(value: str) -> bool:
        return all_usual(fast_path, (f"1\n{value}\n" + "2\n" * 99).encode())

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
def test_double_in_its_shortest_notation_is_usual(numbers, digits):
    validation = ValidationRules(Dialect(), (FieldCheck("a", "double"),), mariadb=True)
    assert is_usual(validation, "".join(f"{number!r}\n-{number!r}\n" for number in numbers).encode())
    single = ValidationRules(Dialect(), (FieldCheck("a", "float"),), mariadb=True)
    for number in numbers:  # with more digits than they have, or fewer
        for form in "fe":
            is_usual(validation, f"{number:.{digits}{form}}\n".encode())
            is_usual(single, f"{number:.{digits}{form}}\n".encode())


@needs_library
@pytest.mark.parametrize(("type_", "clock"), [("date", ""), ("datetime", " 12:00:00"), ("datetime", "T12:00:00")])
def test_29_february_is_usual_in_leap_years_only(type_: str, clock: str):
    validation = ValidationRules(Dialect(), (FieldCheck("a", type_),), mariadb=True)
    days = [f"{year:04}-02-29{clock}" for year in range(10_000)]
    wanted = [bool(year) and isleap(year) for year in range(10_000)]
    assert [is_usual(validation, f"{day}\n".encode()) for day in days] == wanted
    data = "\n".join(days).encode()
    block = block_of(data, validation.dialect)
    cells = lay_out(block, validation.dialect, 1).cells([0])
    unusual = {*validation.validator.rules[0].unusual(cells).tolist()}
    assert [number not in unusual for number in range(10_000)] == wanted


@needs_library
@examples(300)
@given(rows=st.lists(st.tuples(*[st.sampled_from(VALUES)] * 2, st.sampled_from(["\n", ""])), min_size=1, max_size=9))
def test_usual_block_has_no_findings_for_any_neighbours_of_values(rows):
    data = "".join(f"{first},{second}{end or ','}" for first, second, end in rows).encode()
    checks = (FieldCheck("a", "int", True, ("",)), FieldCheck("b", "varchar(4)"))
    validation = ValidationRules(Dialect(blank_lines="keep"), checks, mariadb=True)
    with in_file(data) as fd:
        all_blocks = list(blocks(fd, validation.dialect, 0, 1, data.rfind(b"\n") + 1))
    for block in all_blocks:
        slow = validation.validator.examine_one_by_one(block)
        assert not validation.validator.fast_path.are_all_usual(block) or not (
            slow.faults or slow.notices or slow.noted
        )


@needs_library
@examples(300)
@given(
    rows=st.lists(st.tuples(*[st.text('a",\n7', max_size=9)] * 3), min_size=1, max_size=40),
    quoting=st.sampled_from([csv.QUOTE_ALL, csv.QUOTE_MINIMAL]),
    line_end=st.sampled_from(["\n", "\r\n"]),
)
def test_quoted_delimiters_line_ends_and_quotes_are_usual(rows, quoting, line_end):
    """If all texts fit, all records are usual; otherwise a usual block has no findings."""
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
        validation = ValidationRules(Dialect(line_end=line_end), tuple(checks), mariadb=True)
        block = block_of(data, validation.dialect)
        usual = validation.validator.fast_path.are_all_usual(block)
        assert usual or not all_fit
        slow = validation.validator.examine_one_by_one(block)
        assert not usual or not (slow.faults or slow.notices or slow.noted)


FORMATTED = [
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
        (FieldCheck("a", "date", datetime_format="%d.%m.%Y"), FORMATTED),
        (FieldCheck("a", "datetime", datetime_format="%d.%m.%Y %H:%i"), FORMATTED),
        (FieldCheck("a", "double", transforms=("thousands-dot",)), ["1.234,50", "0,5", "-7", "1e5", "31.12.2024", ""]),
    ],
)
def test_column_with_a_transform_or_format_does_not_disable_the_fast_path(check, usual):
    dialect = Dialect(delimiter=";")
    validation = ValidationRules(dialect, (check, FieldCheck("b", "int")), mariadb=True)
    assert [value for value in FORMATTED if is_usual(validation, f"{value};7\n".encode())] == usual
    assert not is_usual(validation, f"{usual[0]};x\n".encode())


def test_date_column_with_a_format_that_has_a_time_disables_the_fast_path():
    check = FieldCheck("a", "date", datetime_format="%d.%m.%Y %H:%i")
    assert ValidationRules(Dialect(), (check,), mariadb=True).validator.fast_path is None


CHARACTERS = r'a",\N' + "\t\n7"


@needs_library
@examples(400)
@given(
    rows=st.lists(st.tuples(*[st.none() | st.text(CHARACTERS, max_size=9)] * 3), min_size=1, max_size=40),
    dialect=st.sampled_from([MYSQL_TSV, Dialect(escape="\\"), Dialect(escape="\\", line_end="\r\n")]),
)
def test_escaped_delimiters_line_ends_and_escapes_are_usual(rows, dialect):
    """If all texts fit, all records as SELECT INTO OUTFILE writes them are usual."""

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
        validation = ValidationRules(dialect, tuple(checks), mariadb=True)
        block = block_of(data, validation.dialect)
        usual = validation.validator.fast_path.are_all_usual(block)
        assert usual or not all_fit
        slow = validation.validator.examine_one_by_one(block)
        assert not usual or not (slow.faults or slow.notices or slow.noted)


# Integers of more than 18 digits are not usual: the whole document is parsed then.
INTEGERS = st.integers(-(10**18) + 1, 10**18 - 1)
JSON_LIKE = st.recursive(
    st.none() | st.booleans() | INTEGERS | st.text(CHARACTERS + "é", max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(CHARACTERS, max_size=3), inner, max_size=3),
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
def test_json_is_usual_with_any_escapes_of_the_dialect(documents, dialect, ascii_only, doubled):
    def cell(document: str) -> str:
        if dialect.escape:
            document = re.sub(r"[\\\t\n]" if doubled else r'[\\"\t\n]', r"\\\g<0>", document)
        if doubled or not dialect.escape:
            document = document.replace('"', '""') if dialect.quote else document
        return dialect.quote + document + dialect.quote

    texts = [json.dumps(each, ensure_ascii=ascii_only) for each in documents]
    validation = ValidationRules(dialect, (FieldCheck("a", "json"),), mariadb=False)
    data = "".join(f"{cell(text)}\n" for text in texts).encode()
    # A document with an escape in a key is parsed as a whole: two such keys may be equal.
    assert is_usual(validation, data) or any("\\" in text for text in texts)
    assert not is_usual(validation, data.replace(b":", b";")) or b":" not in data


@needs_library
@pytest.mark.parametrize(
    "dialect",
    [
        Dialect(line_end="any"),
        Dialect(delimiter="."),
        Dialect(delimiter="|-|"),
    ],
)
def test_unsupported_dialect_has_no_fast_path(dialect: Dialect):
    assert ValidationRules(dialect, (FieldCheck("a", "int"),), mariadb=True).validator.fast_path is None

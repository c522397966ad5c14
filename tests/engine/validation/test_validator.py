"""The examination of many values at once has the findings of the examination one by one."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import product

from hypothesis import example, given
from hypothesis import strategies as st

from importer.engine.mapping.columns import ValueList
from importer.engine.source.dialect import ANY_LINE_END, Dialect
from importer.engine.source.records.blocks import Block, blocks, read_exactly
from importer.engine.validation import BlockFindings, FieldCheck, ValidationRules
from tests.engine.reference import in_file
from tests.examples import examples

DIALECTS = (
    Dialect(header=False, blank_lines="keep"),
    Dialect(line_end="\r\n", blank_lines="keep"),
    Dialect(line_end="\r", blank_lines="keep"),
    Dialect(line_end=ANY_LINE_END, blank_lines="keep"),
    Dialect(delimiter="\t", quote="", escape="\\", blank_lines="keep"),
    Dialect(escape="\\", blank_lines="keep"),
    Dialect(trailing_delimiter=True, blank_lines="keep"),
    Dialect(unquoted_empty_is_null=True, blank_lines="keep"),
    Dialect(delimiter="||", blank_lines="keep"),
    Dialect(escape="quote", blank_lines="keep"),
    Dialect(escape="php", blank_lines="keep", unquoted_empty_is_null=True),
)
CHECKS = (
    FieldCheck("a", "int", null_markers=("NA", "-")),
    FieldCheck("b", "decimal(5,2)", nullable=False, null_markers=("NA",)),
    FieldCheck("c", "datetime", nullable=False),
    FieldCheck("d", "char(4)"),
)
CELLS = st.sampled_from([
    "", "1", "-7", "1.5", "1.25", "-99.5", "1.259", "NA", "NULL", "\\N", "-", "x", "1e3", "12345678901", "2024-01-02",
    "2024-01-02 03:04:05", "2024-01-02 03:04:05.5", "24-1-2", "ab", "ab ", "abcd", "é東", 'a"b', "a,b", "a\nb", "\\\\",
    "|", "C:\\n", "999.99", "-999.99", "1000.00", "-1000.00", "-.25", "--1.25", "2024-02-29", "2023-02-29",
])  # fmt: skip


def written(dialect: Dialect, rows: list[list[str]], quoting: bool) -> bytes:
    """The rows as a file has them; with `quoting`, all values are quoted, not only those that need quotes."""

    def cell(text: str) -> str:
        quote = dialect.quote
        if quote and (quoting or any(mark in text for mark in (dialect.delimiter, quote, "\n"))):
            return quote + text.replace(quote, "\\" + quote if dialect.escapes_quotes_only else quote * 2) + quote
        return text

    end = "\n" if dialect.line_end == ANY_LINE_END else dialect.line_end
    last = dialect.delimiter if dialect.trailing_delimiter else ""
    return "".join(dialect.delimiter.join(map(cell, row)) + last + end for row in rows).encode()


LISTS = st.lists(st.tuples(CELLS, CELLS), max_size=3, unique_by=lambda pair: pair[0]).map(tuple)
ROWS = st.lists(
    st.one_of(st.lists(CELLS, min_size=4, max_size=4), st.lists(CELLS, min_size=1, max_size=5)), max_size=12
)


@examples(600)
@given(dialect=st.sampled_from(DIALECTS), rows=ROWS, quoting=st.booleans(), mariadb=st.booleans(), values=LISTS)
@example(DIALECTS[0], [["1", "2", "2024-01-02", "x"], ["1"]], False, True, ())
def test_findings_at_once_equal_findings_one_by_one(
    dialect: Dialect, rows: list[list[str]], quoting: bool, mariadb: bool, values: ValueList
):
    validation = ValidationRules(dialect, tuple(replace(each, values=values) for each in CHECKS), mariadb)
    data = written(dialect, rows, quoting)
    with in_file(data) as fd:
        for block in blocks(fd, dialect, 0, 1, len(data)):
            at_once, slow = validation.examine(block), validation.validator.examine_one_by_one(block)
            assert at_once == slow
            has_findings = bool(slow.faults or slow.notices or slow.noted)
            assert validation.suspicious(block) or not has_findings


@examples(400)
@given(rows=st.lists(st.lists(CELLS, min_size=4, max_size=4), max_size=12), mariadb=st.booleans(), values=LISTS)
def test_replaced_values_are_judged_as_those_of_a_file_that_has_them(
    rows: list[list[str]], mariadb: bool, values: ValueList
):
    listed = ValidationRules(DIALECTS[0], tuple(replace(each, values=values) for each in CHECKS), mariadb)
    replaced = [[dict(values).get(value, value) for value in row] for row in rows]
    found = []
    for rules, data in (
        (listed, written(DIALECTS[0], rows, True)),
        (replace(listed, checks=CHECKS), written(DIALECTS[0], replaced, True)),
    ):
        with in_file(data) as fd:
            found.append([rules.examine(block) for block in blocks(fd, DIALECTS[0], 0, 1, len(data))])
    assert found[0] == found[1]


FINE_CHECKS = (
    FieldCheck("a", "datetime(3)"),
    FieldCheck("b", "timestamp(2)", nullable=False, null_markers=("NA",)),
    FieldCheck("c", "time(1)"),
    FieldCheck("d", "float"),
    FieldCheck("e", "char(4)", nullable=False, null_markers=("x ",)),
)
DAYS = ("2024-01-02", "2024-02-29")
ODD_DAYS = ("2023-02-29", "1969-01-02", "24-1-2", "2024/01/02", "0000-00-00")
PARTS = ("", ".5", ".12", ".120", ".1230", ".1234", ".000000", ".123456")
ODD_PARTS = (".", ".1234560", ".0000000", ".12x", "Z")
CLOCKS = ("03:04:05", "23:59:59")
ODD_CLOCKS = ("24:00:00", "03:60:00", "03:04:60", "03:04", "3:04:05", "99:59:59")


def mostly(plain: Sequence[str], odd: Sequence[str]) -> st.SearchStrategy[str]:
    return st.sampled_from([*plain] * (20 * len(odd) // len(plain)) + [*odd])


MOMENTS = st.builds(
    "".join,
    st.tuples(mostly(DAYS, ODD_DAYS), st.sampled_from(" T"), mostly(CLOCKS, ODD_CLOCKS), mostly(PARTS, ODD_PARTS)),
)
FINE_ROWS = st.tuples(
    MOMENTS,
    MOMENTS,
    st.builds("".join, st.tuples(mostly(CLOCKS, ODD_CLOCKS), mostly(PARTS, ODD_PARTS))),
    st.one_of(
        st.builds("{:.{}f}".format, st.floats(-1e6, 1e6), st.integers(0, 17)),
        st.floats(width=32, allow_nan=False, allow_infinity=False).map(repr),
    ),
    mostly(["ab", "ab ", "éé ", "   "], ["x ", "abcd ", "abcde"]),
).map(list)


@examples(400)
@given(
    rows=st.lists(FINE_ROWS, min_size=1, max_size=12),
    mariadb=st.booleans(),
    reject=st.booleans(),
)
def test_losses_at_once_equal_losses_one_by_one(rows: list[list[str]], mariadb: bool, reject: bool):
    validation = ValidationRules(Dialect(), FINE_CHECKS, mariadb, reject)
    data = written(Dialect(), rows, quoting=False)
    with in_file(data) as fd:
        (block,) = blocks(fd, Dialect(), 0, 1, len(data))
    slow = validation.validator.examine_one_by_one(block)
    assert validation.examine(block) == slow
    assert validation.suspicious(block) or not (slow.faults or slow.notices or slow.noted)


def test_findings_for_every_day_and_hour_equal_findings_one_by_one():
    dates = product((1900, 2000, 2023, 2024), range(14), range(33))
    days = [f"{year}-{month:02}-{day:02}" for year, month, day in dates]
    clocks = [f"{hour:02}:{part}" for hour, part in product(range(26), ("00:00", "59:59", "60:00", "00:60"))]
    moments = [f"2024-02-{day:02} {clock}" for day, clock in product((28, 29, 30), clocks)]
    for type_, values in (("date", days), ("datetime", days), ("datetime", moments), ("timestamp", moments)):
        validation = ValidationRules(Dialect(), (FieldCheck("a", type_, nullable=False),), mariadb=True)
        data = "".join(f"{value}\n" for value in values).encode()
        with in_file(data) as fd:
            (block,) = blocks(fd, Dialect(), 0, 1, len(data))
        findings = validation.examine(block)
        assert findings == validation.validator.examine_one_by_one(block)
        assert 0 < len(findings.faults) < len(values)


def test_findings_of_a_fully_quoted_block_equal_findings_one_by_one():
    rows = [[str(number), f"{number}.25", "2024-01-02 03:04:05", "abcd"] for number in range(999)]
    rows[500][1], rows[700][2] = "1.255", "2024-13-02 03:04:05"
    for line_end in ("\n", "\r\n"):
        dialect = Dialect(line_end=line_end)
        validation = ValidationRules(dialect, CHECKS, mariadb=True)
        whole = written(dialect, rows, quoting=True)
        for data in (whole, whole.removesuffix(line_end.encode()), whole + b'"1","2"' + line_end.encode()):
            with in_file(data) as fd:
                for block in blocks(fd, dialect, 0, 1, len(data), 40_000):
                    assert validation.examine(block) == validation.validator.examine_one_by_one(block)


def test_record_larger_than_a_block_is_examined():
    checks = (FieldCheck("a", "int"), FieldCheck("b", "mediumtext"), FieldCheck("c", "text"))
    validation = ValidationRules(Dialect(), checks, mariadb=True)
    for long in ('"' + "x" * 600_000 + '"', "y" * 600_000):
        data = f"1.5,{long},fine\n2,{long},{long}\n3,{long},fine\n".encode()
        with in_file(data) as fd:
            findings = [findings_of(fd, block, validation) for block in blocks(fd, Dialect(), 0, 1, len(data))]
        assert [[fault.column for _, fault in each.faults] for each in findings] == [["a"], ["c"], []]


def findings_of(fd: int, block: Block, validation: ValidationRules) -> BlockFindings:
    return validation.examine(replace(block, data=read_exactly(fd, block.size, block.offset)))

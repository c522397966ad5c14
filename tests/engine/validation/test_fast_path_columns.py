"""native/src/fast_path.c gives the same result for many records, column by column, as for each record by itself."""

from functools import cache, partial

import pytest

from importer.engine.source.dialect import Dialect
from importer.engine.source.records.blocks import blocks
from importer.engine.validation import FieldCheck, ValidationRules
from tests.engine.reference import in_file
from tests.engine.validation.fast_path_cases import (
    DIALECTS,
    USUAL,
    VALUES,
    all_usual,
    block_of,
    needs_library,
    records_of,
)

pytestmark = [needs_library, pytest.mark.usefixtures("each_build")]


@pytest.mark.thorough
@pytest.mark.one_of("nullable")  # A word for NULL is looked for in one place, whatever the type is.
@pytest.mark.parametrize("type_", USUAL)
@pytest.mark.parametrize("nullable", [True, False])
def test_record_among_many_is_as_usual_as_by_itself(type_: str, nullable: bool):
    """Many records are read column by column, at any distance of unusual ones; one record is read field by field."""
    checks = (FieldCheck("a", "int"), FieldCheck("b", type_, nullable, ("NA",) if nullable else ()))
    for dialect in DIALECTS:
        fast_path = ValidationRules(dialect, checks, mariadb=True).validator.fast_path
        assert fast_path
        alone = cache(partial(all_usual, fast_path))
        end = (dialect.delimiter if dialect.trailing_delimiter else "") + dialect.line_end
        quoted = [f'"{value}"' for value in VALUES if '"' not in value and dialect.quote]
        values = (USUAL[type_], *VALUES, *quoted, "\x007\0", "ab\rc", "\rc")
        known, *strangers = (f"7{dialect.delimiter}{value}{end}" for value in values)
        among = "".join(stranger + known * (7 * number % 40) for number, stranger in enumerate(strangers))
        data = (among + known * 999).encode()
        with in_file(data) as fd:
            for block in blocks(fd, dialect, 0, 1, len(data)):
                unusual = fast_path.unusual_records(block, len(strangers))
                expected = [(low, high) for low, high in records_of(block) if not alone(block.data[low:high])]
                assert unusual is not None
                assert [(each.start, each.end) for each in unusual] == expected


def test_unusual_quoted_value_is_found_at_any_position():
    """64 bytes and many fields are read at a time. CHAR loses a trailing space, quoted or not."""
    checks = (FieldCheck("a", "char(4)"), FieldCheck("b", "char(4)"), FieldCheck("c", "varchar(70)"))
    fast_path = ValidationRules(Dialect(), checks, mariadb=True).validator.fast_path
    assert fast_path
    others = b"ab,abcd,abc\n"
    for place in range(64):
        for before in range(40):
            for odd in (b'"b ",ab,\n', b'ab,"b ",abc\n'):
                data = b",," + b"x" * place + b"\n" + others * before + odd + others * 99
                unusual = fast_path.unusual_records(block_of(data, Dialect()), 1)
                assert [each.number for each in unusual or []] == [before + 1]


@pytest.mark.parametrize("columns", [1, 511, 4096])
def test_unusual_records_of_any_width_are_found(columns):
    fast_path = ValidationRules(Dialect(), (FieldCheck("a", "int"),) * columns, mariadb=True).validator.fast_path
    assert fast_path

    def unusual_numbers(*rows: list[str]) -> list[int] | None:
        data = "".join(",".join(row) + "\n" for row in rows).encode()
        unusual = fast_path.unusual_records(block_of(data, Dialect()), len(rows))
        return unusual and [each.number for each in unusual]

    row = ["7"] * columns
    assert unusual_numbers(row, [*row[:-1], "x"], row, [*row[:-1], "7,7"], row, row[1:] or ["x"], row) == [1, 3, 5]


# Correct and incorrect notations of a value in a file.
NOTATIONS = [
    "{}",
    '"{}"',
    '"{},x"',
    '"{}\n"',
    '"{}""x"',
    '"{}\0"',
    '"{}',
    '{}"',
    '"{}"x',
    'x"{}"',
    '"{}"" "',
    '{}"x"',
]


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_many_records_are_as_usual_as_each_by_itself(line_end):
    """A block is read 64 bytes at a time, at any begin of its records; a short record alone is read value by value."""
    checks = (FieldCheck("a", "varchar(70)"), FieldCheck("b", "varchar(4)"))
    fast_path = ValidationRules(Dialect(line_end=line_end), checks, mariadb=True).validator.fast_path
    assert fast_path

    others = "".join(f"{row}{line_end}" for row in ('7,"a,b"', '"7,","ab"', ",", '"",""', '",",",,"', "ab,ab")) * 4
    assert all_usual(fast_path, others.encode())
    for odd in (notation.format(value) for notation in NOTATIONS for value in ("7", "ab", "a", "")):
        for record in (f"{odd},ab{line_end}", f'"7",{odd}{line_end}'):
            for place in range(64):
                among_others = f"{'x' * place},ab{line_end}{record}{others}".encode()
                assert all_usual(fast_path, among_others) == all_usual(fast_path, record.encode())

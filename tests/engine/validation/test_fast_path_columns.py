"""native/src/fast_path.c looks at many records column by column, and takes the same for usual as of each by itself."""

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


@pytest.mark.parametrize("type_", USUAL)
@pytest.mark.parametrize("nullable", [True, False])
def test_a_record_among_many_is_as_usual_as_by_itself(type_: str, nullable: bool):
    """Many are looked at column by column, however far apart the odd ones are; one record field by field."""
    checks = (FieldCheck("a", "int"), FieldCheck("b", type_, nullable, ("NA",) if nullable else ()))
    for dialect in DIALECTS:
        usual = ValidationRules(dialect, checks, mariadb=True).validator.fast_path
        assert usual
        alone = cache(partial(all_usual, usual))
        end = (dialect.delimiter if dialect.trailing_delimiter else "") + dialect.line_end
        quoted = [f'"{value}"' for value in VALUES if '"' not in value and dialect.quote]
        values = (USUAL[type_], *VALUES, *quoted, "\x007\0", "ab\rc", "\rc")
        known, *strangers = (f"7{dialect.delimiter}{value}{end}" for value in values)
        among = "".join(stranger + known * (7 * number % 40) for number, stranger in enumerate(strangers))
        data = (among + known * 999).encode()
        with in_file(data) as fd:
            for block in blocks(fd, dialect, 0, 1, len(data)):
                found = usual.unusual_records(block, len(strangers))
                odd = [at for at in records_of(block) if not alone(block.data[slice(*at)])]
                assert found is not None
                assert [(each.start, each.end) for each in found] == odd


def test_the_only_quotes_wherever_they_are():
    """As a look goes on, 64 bytes and many fields at a time. A space at the end of CHAR is lost, in quotes or not."""
    checks = (FieldCheck("a", "char(4)"), FieldCheck("b", "char(4)"), FieldCheck("c", "varchar(70)"))
    usual = ValidationRules(Dialect(), checks, mariadb=True).validator.fast_path
    assert usual
    others = b"ab,abcd,abc\n"
    for place in range(64):
        for before in range(40):
            for odd in (b'"b ",ab,\n', b'ab,"b ",abc\n'):
                data = b",," + b"x" * place + b"\n" + others * before + odd + others * 99
                assert [each.number for each in usual.unusual_records(block_of(data, Dialect()), 1) or []] == [
                    before + 1
                ]


@pytest.mark.parametrize("columns", [1, 511, 4096])
def test_records_of_any_width(columns):
    usual = ValidationRules(Dialect(), (FieldCheck("a", "int"),) * columns, mariadb=True).validator.fast_path
    assert usual

    def odd(*rows: list[str]) -> list[int] | None:
        found = usual.unusual_records(
            block_of("".join(",".join(row) + "\n" for row in rows).encode(), Dialect()), len(rows)
        )
        return found and [each.number for each in found]

    row = ["7"] * columns
    assert odd(row, [*row[:-1], "x"], row, [*row[:-1], "7,7"], row, row[1:] or ["x"], row) == [1, 3, 5]


# As a value may stand in a file, rightly or not.
AS_IT_STANDS = [
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
    """Those of a block are looked at 64 bytes at a time, wherever they begin; a short one alone value after value."""
    checks = (FieldCheck("a", "varchar(70)"), FieldCheck("b", "varchar(4)"))
    usual = ValidationRules(Dialect(line_end=line_end), checks, mariadb=True).validator.fast_path
    assert usual

    others = "".join(f"{row}{line_end}" for row in ('7,"a,b"', '"7,","ab"', ",", '"",""', '",",",,"', "ab,ab")) * 4
    assert all_usual(usual, others.encode())
    for odd in (stands.format(value) for stands in AS_IT_STANDS for value in ("7", "ab", "a", "")):
        for record in (f"{odd},ab{line_end}", f'"7",{odd}{line_end}'):
            for place in range(64):
                among_others = f"{'x' * place},ab{line_end}{record}{others}".encode()
                assert all_usual(usual, among_others) == all_usual(usual, record.encode())

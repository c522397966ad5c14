"""Records with their fields in another order keep their values, lengths and lines."""

from dataclasses import replace

import pytest

from importer.engine.source.dialect import RFC4180, Dialect
from importer.engine.source.records.field_order import in_order
from importer.engine.source.records.fields import fields, records

TABS = Dialect("\t", quote="", escape="\\")


def moved(data: bytes, dialect: Dialect, order: tuple[int, ...], piece: int = 3) -> bytes:
    return b"".join(in_order([data[at : at + piece] for at in range(0, len(data), piece)], dialect, order))


@pytest.mark.parametrize(
    ("dialect", "data"),
    [
        (RFC4180, b'a,b,c\n"x,\ny","q""q",\n,,\n1,2,3'),
        (replace(RFC4180, line_end="\r\n"), b'a,"b\r",c\r\n1,2\n,3\r\n'),
        (TABS, b"a\tb\\\tb\tc\n\\N\t\\\\\t1\n"),
        (Dialect(";;", line_end="\r\n"), b'1;;2;3;;"4;;4"\r\n;;;;\r\n'),
        (Dialect(trailing_delimiter=True), b'1,2,3,\n"a",,"c\n",\n'),
    ],
)
def test_values_are_the_same_elsewhere(dialect, data):
    order = (2, 0, 1)
    found = moved(data, dialect, order)
    before, after = (list(records(each, dialect)) for each in (data, found))
    assert [(each.start, each.line) for each in before] == [(each.start, each.line) for each in after]
    for one, two in zip(before, after, strict=True):
        old = fields(data[one.start : one.end], dialect)
        assert fields(found[two.start : two.end], dialect) == [old[at] for at in order]
    assert moved(found, dialect, (1, 2, 0), piece=100) == data


@pytest.mark.parametrize("odd", [b"1,2\n", b"1,2,3,4\n", b"\n", b'1,2,"open', b'1,2,"o"pen\n', b'"o"pen,2,3\n'])
def test_what_has_other_fields_stays_as_it_is(odd):
    data = b"a,b,c\n" + odd
    assert moved(data, RFC4180, (1, 0, 2)) == b"b,a,c\n" + odd

"""Records with their fields in another order keep their values, lengths and lines."""

from dataclasses import replace

import pytest

from importer.engine.errors import SourceProblem
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


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"1,Anna\n#2,Bo\n3,Cy\n", b"Anna,1\n#2,Bo\nCy,3\n"),
        (b'1,"#Anna"\n#2,"Bo\n3,Cy\n', b'"#Anna",1\n#2,"Bo\nCy,3\n'),
    ],
)
def test_comments_stay_comments(data, expected):
    assert moved(data, replace(RFC4180, comment="#"), (1, 0)) == expected


def test_a_repeated_header_becomes_that_of_the_first_file():
    dialect = replace(RFC4180, skip_repeated_header=True, header_line="id,name")
    assert moved(b"Anna,1\nname,id\nid,name\n", dialect, (1, 0)) == b"1,Anna\nid,name\nname,id\n"


@pytest.mark.parametrize(
    ("dialect", "record"),
    [
        (replace(RFC4180, comment="#"), b"3,#Cy\n"),
        (Dialect("||"), b"1||x|\n"),
        (TABS, b"1\tx\\"),
    ],
)
def test_a_row_that_would_be_read_otherwise_is_refused_with_its_line(dialect, record):
    above = dialect.delimiter_bytes.join((b'"a\nb"' if dialect.quote else b"a\\\nb", b"2")) + b"\n"
    with pytest.raises(SourceProblem, match="cannot be put into the order of the first file") as refused:
        moved(above + record, dialect, (1, 0))
    assert refused.value.where == "line 3"

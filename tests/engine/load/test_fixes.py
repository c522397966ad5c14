"""A rejected record is written again with corrected values: what was not changed keeps its bytes."""

import pytest

from importer.engine.errors import Problem
from importer.engine.load.rejects.fixes import cells, fixed_record
from importer.engine.source.dialect import MYSQL_TSV, RFC4180, Dialect
from importer.engine.source.records.fields import fields

SEMICOLONS = Dialect(delimiter=";", line_end="\r\n", trailing_delimiter=True)


@pytest.mark.parametrize(
    ("record", "texts", "width", "dialect", "wanted"),
    [
        pytest.param(b'1,"a ""b\nc",x\n', ["1", 'a "b\nc', "y, z"], 3, RFC4180, b'1,"a ""b\nc","y, z"\n', id="lines"),
        pytest.param(b"1,2\n", ["1", "2", ""], 3, RFC4180, b"1,2,\n", id="too-few"),
        pytest.param(b"1,2,3,4\n", ["1", "2", "3", ""], 3, RFC4180, b"1,2,3\n", id="too-many"),
        pytest.param(b'1,"open,2\n', ["1", "shut", "2"], 3, RFC4180, b"1,shut,2\n", id="quote-that-never-closed"),
        pytest.param(b"1,\xff,2\n", ["1", "\\xff", "9"], 3, RFC4180, b"1,\xff,9\n", id="bytes-that-are-no-text"),
        pytest.param(b"1\t\\N\ta\n", ["1", "\\N", "x\ty\\"], 3, MYSQL_TSV, b"1\t\\N\tx\\ty\\\\\n", id="backslashes"),
        pytest.param(b"1;;a;\r\n", ["1", "", "c;d"], 3, SEMICOLONS, b'1;;"c;d";\r\n', id="delimiter-at-the-end"),
        pytest.param(b"x\n", [""], 1, RFC4180, b'""\n', id="not-a-blank-line"),
        pytest.param(b"x,1\n", ["#x", "1"], 2, Dialect(comment="#"), b'"#x",1\n', id="not-a-comment"),
        pytest.param(b"1,\n", ["2", ""], 2, Dialect(unquoted_empty_is_null=True), b"2,\n", id="null-stays"),
    ],
)  # fmt: skip
def test_it_is_read_as_it_was_entered(record, texts, width, dialect, wanted):
    assert fixed_record(record, dialect, texts, width) == wanted
    assert len(fields(wanted, dialect)) == width


@pytest.mark.parametrize(
    ("text", "dialect", "words"),
    [
        ("a\tb", Dialect(delimiter="\t", quote=""), "cannot express"),
        ("", Dialect(quote=""), "cannot express"),
        ("→", Dialect(encoding="cp1252"), "does not have the character “→”"),
        ('a\\"b', Dialect(escape="php"), "cannot express"),
    ],
)
def test_what_the_file_cannot_express_is_refused(text, dialect, words):
    with pytest.raises(Problem, match=words):
        fixed_record(b"x\n", dialect, [text], 1)


def test_the_text_of_a_cell_is_that_of_its_value():
    assert [each.text for each in cells(b'1,"a ""b""\nc",\xe9\n', Dialect(encoding="cp1252"))] == ["1", 'a "b"\nc', "é"]

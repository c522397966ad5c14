"""Text with line ends of its own is what LOAD DATA makes of it, with the same marks in its clauses."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from importer.engine.errors import RecordUnreadable, SourceProblem
from importer.engine.feed.feed import open_feed
from importer.engine.load.methods.load_data_local import load
from importer.engine.mysql.connection import FEED_NAME, connect_loader, execute, fetch_all
from importer.engine.mysql.quoting import quote_text
from importer.engine.source.formats.own_line_ends import LONGEST_MARK, line_end_of
from importer.engine.source.profile.expected_columns import ExpectedColumn
from importer.engine.source.profile.profile import profile_file
from tests.engine.source.formats.copies import copied
from tests.examples import examples

EXAMPLES = examples(300, suppress_health_check=[HealthCheck.function_scoped_fixture])
MYSQLBULK = {"line_end": "^^^\n", "delimiter": ":::,", "quote": "", "escape": ""}
FIELDS = 3
# Line end, line start, delimiter, quote, escape.
MARKS = st.sampled_from(
    [
        ("^^^\n", "", ":::,", "", ""),
        ("^^^\n", "", ":::,", "", "\\"),
        ("|||", "xxx", ",", '"', ""),
        ("END", ">", "\t", '"', "\\"),
        ("\n", "row:", ";", "'", ""),
        ("~", "", "||", "'", "\\"),
    ]
)
VALUES = st.text(st.sampled_from("aNé\"'\\,;:^|\n\t~> x"), max_size=6)


def written(value: str, marks: tuple[str, ...], *, quoted: bool) -> str:
    """A value as SELECT ... INTO OUTFILE writes it, or as close to that as the marks allow."""
    line_end, line_start, delimiter, quote, escape = marks
    if escape:
        for each in filter(None, (escape, quote, delimiter[0], line_end[0])):
            value = value.replace(each, escape + each)
    elif quoted:
        value = value.replace(quote, quote * 2)
    # What the marks have no way to write: the start and the end, and outside quotes their beginnings.
    for each in () if escape else (line_end, *filter(None, [line_start])):
        value = value.replace(each, "")
    if quoted:
        return f"{quote}{value}{quote}"
    return value if escape else "".join(each for each in value if each not in delimiter + line_end + quote)


@pytest.fixture
def by_server(database, tmp_path):
    """What LOAD DATA stores of a file."""
    with connect_loader(database) as connection:
        columns = ", ".join(f"c{number} LONGTEXT" for number in range(FIELDS))
        execute(connection, f"CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, {columns}) CHARSET utf8mb4")

        def loaded(path: Path, marks: tuple[str, ...]) -> list[tuple[str | None, ...]]:
            line_end, line_start, delimiter, quote, escape = map(quote_text, marks)
            sql = (
                f"LOAD DATA LOCAL INFILE {quote_text(FEED_NAME)} INTO TABLE t CHARACTER SET utf8mb4"
                f" FIELDS TERMINATED BY {delimiter} ENCLOSED BY {quote} ESCAPED BY {escape}"
                f" LINES STARTING BY {line_start} TERMINATED BY {line_end} (c0, c1, c2)"
            )
            with path.open("rb") as file:
                load(connection, sql, open_feed(file.fileno(), 0, path.stat().st_size))
            rows = fetch_all(connection, "SELECT c0, c1, c2 FROM t ORDER BY id")
            execute(connection, "ROLLBACK")
            return rows

        yield loaded


@EXAMPLES
@given(marks=MARKS, rows=st.lists(st.lists(VALUES, min_size=FIELDS, max_size=FIELDS), min_size=1), data=st.data())
def test_records_are_those_of_load_data(by_server, tmp_path, marks, rows, data):
    line_end, line_start, delimiter, quote, escape = marks
    records = []
    for row in rows:
        values = [written(value, marks, quoted=data.draw(st.booleans()) and bool(quote)) for value in row]
        records.append(line_start + delimiter.join(values) + line_end)
    path = tmp_path / "own.txt"
    path.write_bytes("".join(records).encode())
    stated = {"line_end": line_end, "line_start": line_start, "delimiter": delimiter, "quote": quote, "escape": escape}
    expected = [tuple(r"\N" if value is None else value for value in row) for row in by_server(path, marks)]
    assert copied(path, **stated, header=False, format="own-line-ends") == expected, (path.read_bytes(), marks)


def test_records_and_values_have_any_other_characters(tmp_path: Path):
    path = tmp_path / "bulk.txt"
    path.write_bytes('id:::,name^^^\n1:::,a\tb\nc, "d"^^^\n2:::,é\\^^^\n3:::,^^\n^^^\n'.encode())
    assert copied(path, **MYSQLBULK, header=True) == [
        *(("id", "name"), ("1", 'a\tb\nc, "d"'), ("2", "é\\"), ("3", "^^\n"))
    ]
    assert profile_file(path, **MYSQLBULK, header=True).lines[:3] == (2, 4, 5)


def test_what_nobody_has_stated_is_asked(tmp_path: Path):
    path = tmp_path / "own.txt"
    path.write_bytes(b'id;name^^^1;"a\\b"^^^')
    found = profile_file(path, None, [ExpectedColumn("id"), ExpectedColumn("name")], line_end="^^^")
    guesses = {each.name: [answer.flag for answer in each.answers][:2] for each in found.decisions if each.guessed}
    assert guesses == {
        "delimiter": ["--delimiter ';'", "--delimiter ','"],
        "quote": ["--quote '\"'", "--quote ''"],
        "escape": ["--escape '\\'", "--escape ''"],
    }
    assert found.dialect.fields == ("id", "name")


def test_a_later_file_is_read_with_the_marks_of_the_first(tmp_path: Path):
    one, other = tmp_path / "one.txt", tmp_path / "other.txt"
    one.write_bytes(b"1:::,a^^^\n")
    other.write_bytes(b"2:::,b^^^\n3:::,c^^^\n")
    first = profile_file(one, **MYSQLBULK, header=False)
    again = profile_file(other, first.dialect)
    assert (again.dialect.own, again.dialect.fields) == (first.dialect.own, first.dialect.fields)
    assert not [each for each in again.decisions if each.guessed]


def test_a_record_without_its_start_is_refused_and_named(tmp_path: Path):
    path = tmp_path / "own.txt"
    path.write_bytes(b"xxx1,a\nsomething xxx2,b\n3,c\n")
    stated = {"line_start": "xxx", "delimiter": ",", "header": False}
    with pytest.raises(RecordUnreadable, match="line 3: The record does not have the line start 'xxx'"):
        copied(path, **stated)
    path.write_bytes(b"xxx1,a\nsomething xxx2,b\n")
    assert copied(path, **stated) == [("1", "a"), ("2", "b")]


@pytest.mark.parametrize("text", ["", "x" * (LONGEST_MARK + 1), r"a\x00"])
def test_marks_that_are_none_are_refused(text: str):
    with pytest.raises(SourceProblem, match="is not supported"):
        line_end_of(text)


def test_names_and_texts_of_line_ends():
    texts = ("lf", "crlf", "cr", "any", r"\n", r"^^^\n", "^^^\n", r"\x01", r"\\n")
    assert [line_end_of(each) for each in texts] == ["\n", "\r\n", "\r", "any", "\n", "^^^\n", "^^^\n", "\x01", r"\n"]

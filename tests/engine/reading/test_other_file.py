"""A file that is read with the dialect of another one: what it shows otherwise is asked about, and read so."""

from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

from importer.engine.reading.other_file import profile_like
from importer.engine.source.decisions import Decision
from importer.engine.source.dialect import Dialect
from importer.engine.source.profile.profile import Profile, profile_file
from tests.importer.formats.workbooks import write_ods, write_xlsx

PLAIN = "id,word,price\n" + "".join(f"{n},Zürich,{n}.50\n" for n in range(9))
COLUMNS = ("id", "word", "price")
TOTAL, UNITS = PLAIN + "Total,,36.00\n", PLAIN.replace("\n", "\n[1],[],[EUR]\n", 1)


def sampled(tmp_path: Path, text: str, encoding: str, **known) -> Dialect:
    path = tmp_path / "first.csv"
    path.write_bytes(text.encode(encoding))
    return profile_file(path, **known).dialect


def read(tmp_path: Path, data: bytes, dialect: Dialect, stated: Collection[str] = ()) -> Profile:
    path = tmp_path / "other.csv"
    path.write_bytes(data)
    return profile_like(path, dialect, COLUMNS, stated)


def values(asked: Decision) -> list[object]:
    return [each.states[0][1] for each in asked.answers]


TITLED = "Report,of Monday\n"


@pytest.mark.parametrize(
    ("text", "known"),
    [
        (f"{TITLED}ann,berlin\nbob,rome\n", {"header": False, "skip_rows": 1}),
        ("Names\nann\nbob\n", {"header": False, "skip_rows": 1, "delimiter": ","}),
        ("2019,2020\n1,2\n3,4\n", {"header": False, "skip_rows": 1}),
        ('"Report\n1,2\n3,4\n', {"header": False, "skip_rows": 1}),
        ('n;word\n1;"Heroes" live\n2;two\n', {"quote": ""}),
        ("n,word\n1,'a'\n2,'b'\n", {"quote": '"'}),
        ("n,word\n1,'a, b'\n2,'\"c\" d'\n3,'e'\n", {}),
        ('n\tword\n1\t6" disk\n2\ttwo\n', {}),
        ("id,note\n1,Smith\n2,Doe\n", {}),
    ],
)
def test_an_ordinary_file_differs_from_itself_in_nothing(tmp_path: Path, source, text: str, known: dict[str, Any]):
    dialect = sampled(tmp_path, text, "utf-8", **known)
    assert profile_like(source(text, "again.csv"), dialect, ("", "")).differing == ()


def test_rows_of_another_width_are_no_question(tmp_path: Path, source):
    """They are refused or rejected by their lines, as in any file."""
    dialect = sampled(tmp_path, "id,note\n1,Smith\n2,Doe\n", "utf-8")
    path = source("id,note\n1,Smith, John\n2,Doe, Ann\n", "again.csv")
    assert profile_like(path, dialect, ("id", "note")).differing == ()


@pytest.mark.parametrize("text", [PLAIN, TOTAL, UNITS])
@pytest.mark.parametrize("encoding", ["utf-8", "cp1252", "utf-16"])
def test_the_same_file_differs_in_nothing(tmp_path: Path, text: str, encoding: str):
    profile = read(tmp_path, text.encode(encoding), sampled(tmp_path, text, encoding))
    assert (profile.differing, len(profile.rows)) == ((), 9)


def test_utf8_is_read_as_such(tmp_path: Path):
    dialect = sampled(tmp_path, PLAIN, "cp1252")
    profile = read(tmp_path, PLAIN.encode(), dialect)
    assert profile.rows[0][1] == "Zürich"
    assert [each.name for each in profile.differing] == ["encoding"]
    assert values(profile.differing[0]) == ["utf-8", dialect.encoding]
    kept = read(tmp_path, PLAIN.encode(), dialect, ["encoding"])
    assert (kept.differing, kept.rows[0][1]) == ((), "ZÃ¼rich")


@pytest.mark.parametrize(("text", "name"), [(TOTAL, "skip_footer"), (UNITS, "skip_after_header")])
def test_lines_are_read_as_this_file_shows_them(tmp_path: Path, text: str, name: str):
    for first, other, shown in ((PLAIN, text, 1), (text, PLAIN, 0)):
        dialect = sampled(tmp_path, first, "utf-8")
        profile = read(tmp_path, other.encode(), dialect)
        assert [each.name for each in profile.differing] == [name]
        assert values(profile.differing[0]) == [shown, 1 - shown]
        assert (getattr(profile.dialect, name), len(profile.rows)) == (shown, 9)
        kept = read(tmp_path, other.encode(), dialect.stating(**{name: 1 - shown}), [name])
        assert (kept.differing, getattr(kept.dialect, name)) == ((), 1 - shown)


def test_a_header_is_found_by_the_names_of_all_columns(tmp_path: Path):
    rows = PLAIN.partition("\n")[2]
    dialect = sampled(tmp_path, rows, "utf-8")
    profile = read(tmp_path, PLAIN.encode(), dialect)
    assert ([each.name for each in profile.differing], values(profile.differing[0])) == (["header"], [True, False])
    assert (profile.header, len(profile.rows)) == (COLUMNS, 9)
    kept = read(tmp_path, PLAIN.encode(), dialect, ["header"])
    assert (kept.differing, len(kept.rows)) == ((), 10)
    assert read(tmp_path, PLAIN.replace("word", "price", 1).encode(), dialect).differing == ()


def test_all_differences_are_asked_about_at_once(tmp_path: Path):
    both = (UNITS + "Total,,36.00\n").encode()
    profile = read(tmp_path, both, sampled(tmp_path, PLAIN, "cp1252"))
    assert [each.name for each in profile.differing] == ["encoding", "skip_after_header", "skip_footer"]
    assert len(profile.rows) == 9


def test_the_columns_of_a_header_may_have_another_order(tmp_path: Path):
    dialect = sampled(tmp_path, PLAIN.partition("\n")[2], "utf-8")
    profile = read(tmp_path, b"word,id,price\none,1,2\n", dialect)
    assert ([each.name for each in profile.differing], profile.header) == (["header"], ("word", "id", "price"))


@pytest.mark.parametrize("names", ["id   word  ", "word id    "])
def test_a_header_of_fixed_width_is_found(tmp_path: Path, source, names: str):
    dialect = sampled(tmp_path, "1    one   \n2    two   \n", "utf-8", format="fixed", widths="5,6", header=False)
    profile = profile_like(source(f"{names}\n1    one   \n", "other.txt"), dialect, ("id", "word"))
    assert [each.name for each in profile.differing] == ["header"]


@pytest.mark.parametrize("above", ["Report of Monday\n", "sep=,\n"])
def test_the_first_row_is_no_title(tmp_path: Path, above: str):
    rows = PLAIN.partition("\n")[2]
    dialect = sampled(tmp_path, above + rows, "utf-8", header=False, skip_rows=1)
    assert (read(tmp_path, (above + rows).encode(), dialect).differing, dialect.skip_rows) == ((), 1)
    profile = read(tmp_path, rows.encode(), dialect)
    assert ([each.name for each in profile.differing], values(profile.differing[0])) == (["skip_rows"], [0, 1])
    assert len(profile.rows) == 9


SKIPPED = {"header": False, "skip_rows": 2}


def fixed(folder: Path, rows: list[tuple]) -> Path:
    path = folder / f"{len(rows)}.txt"
    path.write_text("".join("".join(f"{each!s:10}" for each in row) + "\n" for row in rows))
    return path


def workbook(write) -> Callable[[Path, list[tuple]], Path]:
    return lambda folder, rows: write(folder / f"{len(rows)}", {"S": rows})


@pytest.mark.parametrize(
    ("write", "known"),
    [
        (workbook(write_xlsx), SKIPPED),
        (workbook(write_xlsx), {}),
        (workbook(write_ods), SKIPPED),
        (fixed, {"format": "fixed", "widths": "10,10", **SKIPPED}),
    ],
    ids=["xlsx", "xlsx as detected", "ods", "fixed width"],
)
def test_the_first_rows_of_another_format_are_no_title(tmp_path: Path, write, known: dict[str, Any]):
    rows = [(n, "word") for n in range(4)]
    titled, plain = write(tmp_path, [("Report",), (), *rows]), write(tmp_path, rows)
    first = profile_file(titled, **known)
    assert (first.dialect.skip_rows, first.dialect.header, len(first.rows)) == (2, False, 4)
    assert profile_like(titled, first.dialect, ("", "")).differing == ()
    profile = profile_like(plain, first.dialect, ("", ""))
    assert ([each.name for each in profile.differing], values(profile.differing[0])) == (["skip_rows"], [0, 2])
    assert len(profile.rows) == 4
    third = profile_like(plain, profile_like(titled, first.dialect, ("", "")).dialect, ("", ""))
    assert len(third.rows) == 4


@pytest.mark.parametrize("write", [write_xlsx, write_ods])
@pytest.mark.parametrize("known", [{}, {"skip_footer": 1}])
def test_the_last_rows_of_a_sheet_are_read_as_this_one_shows_them(tmp_path: Path, write, known: dict[str, Any]):
    rows = [("id", "word"), *((n, "word") for n in range(4))]
    total = write(tmp_path / "total", {"S": [*rows, (), ("Total", 6)]})
    plain = write(tmp_path / "plain", {"S": rows})
    first = profile_file(total, **known)
    assert profile_like(total, first.dialect, ("", "")).differing == ()
    profile = profile_like(plain, first.dialect, ("", ""))
    assert ([each.name for each in profile.differing], values(profile.differing[0])) == (["skip_footer"], [0, 1])
    assert "3\tword" in profile.differing[0].evidence
    assert len(profile.rows) == 4
    kept = profile_like(plain, first.dialect.stating(skip_footer=1), ("", ""), ["skip_footer"])
    assert (kept.differing, len(kept.rows)) == ((), 3)
    if not known:
        other = profile_like(total, profile_file(plain).dialect, ("", ""))
        assert (values(other.differing[0]), len(other.rows)) == ([1, 0], 4)


def test_rows_that_were_left_out_as_stated_are_so_in_the_next_file(tmp_path: Path):
    rows = [(n, "word") for n in range(4)]
    first = profile_file(write_xlsx(tmp_path / "a", {"S": rows}), **SKIPPED)
    profile = profile_like(write_xlsx(tmp_path / "b", {"S": rows}), first.dialect, ("", ""))
    assert (profile.differing, len(profile.rows)) == ((), 2)


def test_another_quote_is_asked_about(tmp_path: Path):
    dialect = sampled(tmp_path, PLAIN, "utf-8")
    quoted = PLAIN.replace("Zürich", "'Zürich, city'").encode()
    profile = read(tmp_path, quoted, dialect)
    assert ([each.name for each in profile.differing], values(profile.differing[0])) == (["quote"], ["'", '"'])
    assert profile.rows[0][1] == "Zürich, city"


def test_another_file_of_an_archive_is_asked_about(tmp_path: Path):
    dialect, path = sampled(tmp_path, PLAIN, "utf-8"), tmp_path / "months.zip"
    with ZipFile(path, "w") as archive:
        archive.writestr("a.csv", PLAIN)
        archive.writestr("b.csv", PLAIN)
    profile = profile_like(path, dialect, COLUMNS)
    assert [each.name for each in profile.differing] == ["member"]
    assert profile_like(path, dialect.stating(member="b.csv"), COLUMNS, ["member"]).differing == ()


def test_characters_beyond_ascii_may_stand_far_below(tmp_path: Path):
    dialect = sampled(tmp_path, PLAIN, "cp1252")
    below = PLAIN.replace("ü", "u") * 50_000 + PLAIN.partition("\n")[2]
    assert [each.name for each in read(tmp_path, below.encode(), dialect).differing] == ["encoding"]
    assert read(tmp_path, below.encode("cp1252"), dialect).differing == ()


@pytest.mark.parametrize(("text", "name"), [(TOTAL, "skip_footer"), (UNITS, "skip_after_header")])
def test_an_answer_holds_for_one_file(tmp_path: Path, text: str, name: str):
    """What was answered becomes part of a preset; the next file may have no such line."""
    dialect = sampled(tmp_path, PLAIN, "utf-8")
    answered = read(tmp_path, text.encode(), dialect.stating(**{name: 1}), [name])
    assert answered.differing == ()
    assert [each.name for each in read(tmp_path, PLAIN.encode(), answered.dialect).differing] == [name]


def test_what_was_stated_for_the_first_file_is_not_compared(tmp_path: Path):
    dialect = sampled(tmp_path, PLAIN, "utf-8", skip_footer=0)
    assert read(tmp_path, TOTAL.encode(), dialect).differing == ()

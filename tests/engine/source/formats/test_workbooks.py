"""Cells of workbooks as text, and workbooks that are refused or ask."""

import datetime
import io
import zipfile
from pathlib import Path

import openpyxl
import pytest

from importer.engine.errors import SourceProblem
from importer.engine.source.formats.spreadsheet.cells import column_name, date_of, duration_of
from importer.engine.source.profile.profile import profile_file
from tests.engine.packing import zipped
from tests.engine.source.formats.copies import copied
from tests.importer.formats.workbooks import parts_of, share_texts, write_ods, write_xlsx


@pytest.mark.parametrize(
    ("days", "from_1904", "text"),
    [
        ("1", False, "1900-01-01"),
        ("59", False, "1900-02-28"),
        ("60", False, None),  # 29 February 1900, which did not exist
        ("61", False, "1900-03-01"),
        ("0", True, "1904-01-01"),
        ("45351", False, "2024-02-29"),
        ("45351.999988425923", False, "2024-02-29 23:59:59"),
        ("45351.5000000116", False, "2024-02-29 12:00:00.001"),
        ("0.5", False, "12:00:00"),
        ("2958465", False, "9999-12-31"),
        ("2958466", False, None),
        ("-1", False, None),
        ("1e999999999", False, None),
        ("NaN", False, None),
        ("1x", False, None),
    ],
)
def test_a_number_of_days_is_that_date(days: str, from_1904: bool, text: str | None):
    assert date_of(days, from_1904) == text


def test_a_duration_may_have_more_hours_than_a_day():
    assert (duration_of("1.5"), duration_of("-0.25")) == ("36:00:00", "-06:00:00")


def test_columns_have_letters():
    assert [column_name(number) for number in (0, 25, 26, 701, 702)] == ["A", "Z", "AA", "ZZ", "AAA"]


def test_cells_of_all_kinds(tmp_path: Path):
    rows = [("a", "b", "c"), (True, 0.1, datetime.timedelta(hours=36)), (1e300, "", -7)]
    path = write_xlsx(tmp_path / "b.xlsx", {"S": rows})
    book = openpyxl.load_workbook(path)
    book["S"]["B2"].number_format = '0%;[Red]"day"0%'
    book.save(path)
    assert copied(path) == [("a", "b", "c"), ("true", "0.1", "36:00:00"), ("1" + "0" * 300, r"\N", "-7")]


@pytest.mark.parametrize("write", [write_xlsx, write_ods])
def test_titles_above_the_table_are_a_question_and_left_out(tmp_path: Path, write):
    path = write(tmp_path / "b", {"S": [("Report",), (), ("a", "b"), ("x", 2)]})
    (guess,) = [each for each in profile_file(path).decisions if each.guessed]
    assert [answer.flag for answer in guess.answers] == ["--skip-rows 2", "--skip-rows 0"]
    assert copied(path) == copied(path, skip_rows=2) == [("a", "b"), ("x", "2")]


LIST = [("item", "pieces", "sum"), *((f"A{number}", number, number * 1.5) for number in range(1, 8))]


@pytest.mark.parametrize("write", [write_xlsx, write_ods])
@pytest.mark.parametrize(
    ("last", "left_out"),
    [
        ([(), ("Summe", "", 42)], 1),
        ([("Total", 28, 42)], 1),
        ([(), (), ("as of Monday",), (), ("Sum", 28)], 1),
        ([(), ("as of Monday",), ("by Anna",)], 2),
        ([("", "Gesamt", 42), (), ()], 1),
        ([("A8", 8)], 0),
        ([(), ("A8", 8, 12)], 0),
    ],
)
def test_a_total_below_the_table_is_a_question_and_left_out(tmp_path: Path, write, last, left_out: int):
    path = write(tmp_path / "b", {"S": [*LIST, *last]})
    profile = profile_file(path)
    guesses = [each for each in profile.decisions if each.guessed]
    flags = [f"--skip-footer {left_out}", "--skip-footer 0"] if left_out else []
    assert [answer.flag for guess in guesses for answer in guess.answers] == flags
    records = len(LIST) + len([row for row in last if any(row)]) - left_out
    assert (len(copied(path)), len(profile.rows)) == (records, records - 1)
    assert copied(path, skip_footer=left_out) == copied(path)
    assert len(copied(path, skip_footer=0)) == records + left_out


def test_blank_rows_between_the_last_rows_count(tmp_path: Path):
    path = write_xlsx(tmp_path / "b", {"S": [*LIST, (), ("Summe", "", 42)]})
    assert len(copied(path, skip_footer=2)) == len(LIST)
    assert len(copied(path, skip_footer=3)) == len(LIST) - 1
    assert copied(path, skip_footer=99) == LIST[:1]


def test_the_end_of_a_large_sheet_is_not_looked_for(tmp_path: Path, monkeypatch):
    monkeypatch.setattr("importer.engine.source.formats.spreadsheet.sheet_footer.MOST_CELLS", 20)
    profile = profile_file(write_xlsx(tmp_path / "b", {"S": [*LIST, ("Total", 28, 42)]}))
    assert (profile.dialect.skip_footer, profile.dialect.sampled) == (0, ())


def test_a_first_row_that_may_be_data_is_a_question(tmp_path: Path):
    path = write_xlsx(tmp_path / "b", {"S": [(1, "x"), (2, "y")]})
    (guess,) = [each for each in profile_file(path).decisions if each.guessed]
    assert (guess.name, [answer.flag for answer in guess.answers]) == ("header", ["--no-header", "--header"])
    assert copied(path) == [("1", "x"), ("2", "y")]
    assert copied(path, header=True) == [("1", "x"), ("2", "y")]
    assert profile_file(path, header=True).header == ("1", "x")


def test_the_rows_of_a_sheet_that_counts_from_1904(tmp_path: Path):
    day = datetime.date(1904, 1, 2)
    path = write_xlsx(tmp_path / "b", {"S": [("day",), (day,)]}, from_1904=True)
    assert copied(path) == [("day",), ("1904-01-02",)]


def changed(path: Path, old: str, new: str) -> Path:
    """The workbook with another text in the part that has its cells."""
    with parts_of(path) as parts:
        (name,) = [name for name, text in parts.items() if old in text]
        parts[name] = parts[name].replace(old, new)
    return path


ROWS = [("a", "b"), (1.5, 2)]
FLOAT = '<table:table-cell office:value-type="float" office:value="1.5"'


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        ('r="B2"', 'r="ZZZZZZZ2"', "no column ZZZZZZZ"),
        ('r="B2"', 'r="A2"', "not in their order"),
        ('r="2"', 'r="99999999999999999999"', "at most 16,777,216"),
        ('r="2"', 'r="x"', "damaged"),
        ('"A2" t="n"', '"A2" t="s"', "damaged"),
        (FLOAT, FLOAT + ' table:number-columns-repeated="1000000000"', "more than 16,384 cells"),
        ("<table:table-row>" + FLOAT, '<table:table-row table:number-rows-repeated="99999999">' + FLOAT, "at most"),
        (FLOAT, FLOAT + ' table:number-columns-repeated="-1"', "damaged"),
        ('"A2" t="n"', '"A2" t="b"', "truth value '1.5'"),
        (FLOAT, FLOAT.replace("float", "boolean"), "truth value ''"),
        ("<text:p>a", '<text:p><text:s text:c="10000000000"/>a', "more than 67,108,864 characters"),
    ],
)
def test_a_damaged_or_hostile_workbook_is_refused_in_bounded_memory(tmp_path: Path, old: str, new: str, what: str):
    write = write_ods if ":" in old else write_xlsx
    with pytest.raises(SourceProblem, match=what):
        copied(changed(write(tmp_path / "b", {"S": ROWS}), old, new))


@pytest.mark.parametrize("dtd", ['[<!ENTITY x SYSTEM "/etc/hostname">]', 'SYSTEM "x.dtd"'])
@pytest.mark.parametrize(
    "write",
    [write_xlsx, lambda path, sheets: share_texts(write_xlsx(path, sheets)), write_ods],
    ids=["cells", "texts", "ods"],
)
def test_a_text_of_another_file_is_refused_by_name(tmp_path: Path, write, dtd: str):
    path = write(tmp_path / "b", {"S": [("n", "t"), (1, "there"), (2, "gone")]})
    with parts_of(path) as parts:
        (name,) = [name for name, text in parts.items() if ">gone<" in text]
        declared, end, rest = parts[name].rpartition("?>")
        parts[name] = f"{declared}{end}<!DOCTYPE a {dtd}>{rest.replace('>gone<', '>&x;<')}"
    with pytest.raises(SourceProblem, match="a text from another file, by the entity &x;"):
        copied(path)


@pytest.mark.parametrize(
    ("stored", "read"),
    [
        ("1.1000000000000001", "1.1"),
        ("-4.3499999999999996", "-4.35"),
        ("1.0000000000000001E-5", "0.00001"),
        ("0.30000000000000004", "0.30000000000000004"),
        ("1.0000000000000000", "1.0"),
        # No digits of a double, or none that another text could have.
        ("12345678901234567", "12345678901234567"),
        ("1.10000000000000010", "1.10000000000000010"),
        ("1.10000000000000", "1.10000000000000"),
        ("1.1000000000000001e999", "1.1000000000000001e999"),
        ("1.1000000000000001e-350", "0." + "0" * 349 + "11000000000000001"),
    ],
)
@pytest.mark.parametrize(("write", "old", "new"), [(write_xlsx, "<v>1.5<", "<v>{}<"), (write_ods, '"1.5"', '"{}"')])
def test_a_double_has_its_shortest_text(tmp_path: Path, write, old: str, new: str, stored: str, read: str):
    path = changed(write(tmp_path / "b", {"S": ROWS}), old, new.format(stored))
    assert copied(path) == [("a", "b"), (read, "2")]


DAY = [("day",), (datetime.date(2024, 2, 29),)]


def test_formats_within_styles_of_tables_are_none_of_cells(tmp_path: Path):
    """They have numbers of their own."""
    of_table = '<dxfs><dxf><numFmt numFmtId="164" formatCode="0.00%"/></dxf></dxfs>'
    path = changed(write_xlsx(tmp_path / "b", {"S": DAY}), "</cellXfs>", "</cellXfs>" + of_table)
    assert copied(path) == [("day",), ("2024-02-29",)]


@pytest.mark.parametrize("format_", ['[=0]"";dd/mm/yyyy', '"" ;[Red]yyyy', "dd/mm/yyyy;;"])
def test_a_part_of_a_format_that_hides_values_tells_nothing_of_others(tmp_path: Path, format_: str):
    path = write_xlsx(tmp_path / "b.xlsx", {"S": DAY})
    book = openpyxl.load_workbook(path)
    book["S"]["A2"].number_format = format_
    book.save(path)
    assert copied(path) == [("day",), ("2024-02-29",)]


@pytest.mark.parametrize("name", ["size-xl/a.csv", "xl/a.csv", "my xl/b.xml"])
def test_a_folder_in_an_archive_makes_it_no_workbook(source, name: str):
    path = source(zipped((name, b"id,n\n1,x\n"), method=zipfile.ZIP_STORED), "b.zip")
    assert copied(path) == [("id", "n"), ("1", "x")]


@pytest.mark.parametrize("streamed", [False, True])
def test_a_workbook_is_recognised_by_the_names_of_its_parts(tmp_path: Path, streamed: bool):
    """In any order, and with sizes before or behind each part."""
    path = write_xlsx(tmp_path / "b", {"S": ROWS})
    with zipfile.ZipFile(path) as archive:
        parts = sorted(((name, archive.read(name)) for name in archive.namelist()), reverse=True)
    into = io.BytesIO() if not streamed else _Stream()
    with zipfile.ZipFile(into, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in parts:
            archive.writestr(name, data)
    path.write_bytes(into.getvalue())
    assert copied(path) == [("a", "b"), ("1.5", "2")]


class _Stream(io.BytesIO):
    """Cannot go back, so that sizes are written behind the data."""

    def seekable(self) -> bool:
        return False

    def seek(self, *_: int) -> int:
        raise OSError


def test_a_number_that_is_none_arrives_as_it_is(tmp_path: Path):
    for number in ("1\t5\n7", "1e999999999", "1e", "NaN"):
        path = changed(write_xlsx(tmp_path / "b", {"S": ROWS}), "<v>1.5</v>", f"<v>{number}</v>")
        assert copied(path) == [("a", "b"), (number, "2")]


@pytest.mark.parametrize(
    ("write", "written", "read"),
    [(write_xlsx, each, each) for each in ("true", "false")]
    + [(write_xlsx, "1", "true"), (write_xlsx, "0", "false"), (write_ods, "false", "false")],
)
def test_a_truth_value_has_two_spellings(tmp_path: Path, write, written: str, read: str):
    path = write(tmp_path / "b", {"S": [("a", "b"), (True, "x")]})
    old, new = ("<v>1</v>", f"<v>{written}</v>") if write is write_xlsx else ('value="true"', f'value="{written}"')
    assert copied(changed(path, old, new) if old != new else path)[1:] == [(read, "x")]


def test_a_character_may_be_written_as_two_escapes(tmp_path: Path):
    path = write_xlsx(tmp_path / "b", {"S": [("a", "b"), ("x_xD83D__xDE00_y_x0007_한", 1)]})
    assert copied(path) == [("a", "b"), ("x\U0001f600y\x07한", "1")]


def half(folder: Path, *, shared: bool = False) -> Path:
    path = write_xlsx(folder / "b.xlsx", {"S": [("a", "b"), (1, "x_xD83D_")]})
    return share_texts(path) if shared else path


def test_texts_that_cells_share_are_those_of_their_numbers(tmp_path: Path):
    rows = [("n", "text"), *((str(n), f"{n}é\t" * (n % 4 + 1)) for n in range(8_000))]
    assert copied(share_texts(write_xlsx(tmp_path / "b", {"S": rows}), "<si/>")) == rows


@pytest.mark.parametrize("number", ["-1", "3"])
def test_a_number_of_no_shared_text_is_refused(tmp_path: Path, number: str):
    path = share_texts(write_xlsx(tmp_path / "b", {"S": [("a", "b"), ("x", 1)]}))
    with pytest.raises(SourceProblem, match="damaged"):
        copied(changed(path, "<v>2</v>", f"<v>{number}</v>"))


def test_a_row_with_half_of_a_character_is_marked(tmp_path: Path):
    assert profile_file(half(tmp_path, shared=True)).refused
    with pytest.raises(SourceProblem, match="cell B2 of the sheet S has half of a character"):
        copied(half(tmp_path, shared=True))


def test_blanks_paragraphs_and_drawings_of_a_cell(tmp_path: Path):
    content = 'x<text:s text:c="3"/>a</text:p><draw:frame xmlns:draw="d"><text:p>no</text:p></draw:frame>'
    path = changed(write_ods(tmp_path / "b", {"S": ROWS}), "<text:p>a", f"<text:p>{content}<text:p>b")
    assert copied(path)[0] == profile_file(path).header == ("x   a\nb", "b")


def test_a_row_that_is_repeated_is_one_record_each_time(tmp_path: Path):
    repeated = '<table:table-row table:number-rows-repeated="3">' + FLOAT
    path = changed(write_ods(tmp_path / "b", {"S": ROWS}), "<table:table-row>" + FLOAT, repeated)
    assert copied(path) == [("a", "b"), *[("1.5", "2")] * 3]


def with_pivot(path: Path) -> Path:
    """Add a relation to a pivot table to the second sheet."""
    relation = '<Relationship Id="p" Type="http://x/pivotTable" Target="../p.xml"/>'
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("xl/worksheets/_rels/sheet2.xml.rels", f"<Relationships>{relation}</Relationships>")
    return path


def test_a_pivot_table_is_refused_by_name_and_never_proposed(tmp_path: Path):
    path = with_pivot(write_xlsx(tmp_path / "b", {"Data": [("a",), (1,)], "Sums": [("b",), (2,)]}))
    assert profile_file(path).dialect.sheet == "Data"
    with pytest.raises(SourceProblem, match="Sums cannot be imported: it is a pivot table"):
        profile_file(path, sheet="Sums")


def with_macros(path: Path) -> Path:
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("xl/vbaProject.bin", b"macros")
    return path


def test_macros_are_not_executed_and_named(tmp_path: Path):
    path = with_macros(write_xlsx(tmp_path / "b", {"S": [("a",), (1,)]}))
    assert "The workbook has macros, which are not executed." in profile_file(path).notes


def formula(folder: Path) -> Path:
    return write_xlsx(folder / "b", {"S": [("a", "b"), (1, "=1+1")]})


def error(folder: Path) -> Path:
    path = write_xlsx(folder / "b.xlsx", {"S": [("a", "b"), (1, 2)]})
    book = openpyxl.load_workbook(path)
    book["S"]["B2"] = "#REF!"
    book.save(path)
    return path


def password(folder: Path) -> Path:
    path = folder / "b"
    path.write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(1000) + "EncryptedPackage".encode("utf-16-le"))
    return path


def encrypted_ods(folder: Path) -> Path:
    path = write_ods(folder / "b", {"S": [("a",), (1,)]})
    with parts_of(path) as parts:
        parts["META-INF/manifest.xml"] = '<m:manifest xmlns:m="m"><m:encryption-data/></m:manifest>'
    return path


def document(folder: Path) -> Path:
    path = folder / "b"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
        archive.writestr("word/document.xml", "<w/>")
    return path


def cut(folder: Path) -> Path:
    path = write_xlsx(folder / "b", {"S": [("a",), (1,)]})
    path.write_bytes(path.read_bytes()[:-100])
    return path


def empty(folder: Path) -> Path:
    return write_xlsx(folder / "b", {"S": []})


@pytest.mark.parametrize(
    ("make", "what"),
    [
        (formula, "cell B2 of the sheet S has a formula without a saved result"),
        (error, "cell B2 of the sheet S has the error #REF!"),
        (half, "cell B2 of the sheet S has half of a character"),
        (password, "a workbook with a password"),
        (encrypted_ods, "has a password"),
        (document, "no workbook, but another Office document"),
        (cut, "cut or damaged"),
        (empty, "no sheet with rows"),
    ],
)
def test_a_workbook_that_cannot_be_read_is_refused_by_name(tmp_path: Path, make, what: str):
    with pytest.raises(SourceProblem, match=what):
        copied(make(tmp_path))

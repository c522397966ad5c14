"""The files that `millrace load` is given: wrong ones, and those of other formats and dialects."""

from io import BytesIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from importer.engine.mysql.connection import connect, execute, fetch_all
from importer.models import SourceFile, Target
from tests.engine.loads import run_sql
from tests.importer.formats.workbooks import write_xlsx
from tests.importer.management.people_file import loaded, report_of, run
from tests.shell import Shell


@pytest.mark.parametrize("mode", [[], ["--mode", "replace"], ["--mode", "create"]])
def test_a_file_with_a_header_only_loads_no_row_and_succeeds(
    target: Target, tmp_path: Path, shell: Shell, mode: list[str]
):
    path = tmp_path / "people.csv"
    path.write_text("id,name,born\n")
    table = "made" if "create" in mode else "people"
    args = ["--target", "t", "--table", table, *mode, "--header", "--in-process", "--json"]
    report = report_of(shell.manage("import_csv", str(path), *args).stdout)
    assert (report["outcome"], report["balanced"], report["rows"]["source"]) == ("succeeded", True, 0)
    with connect(target.address) as connection:
        assert fetch_all(connection, f"SELECT COUNT(*) FROM {table}") == [(0,)]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("empty.csv", b"", "empty"),
        ("picture.csv", b"\x89PNG\r\n\x1a\n" + bytes(200), "PNG"),
        ("sheet.xlsx", write_xlsx(BytesIO(), {"Sheet": [["id"], [1]]}).getvalue()[:-100], "workbook is cut"),
        ("cut.zip", b"PK\x03\x04" + bytes(200), "is cut"),
        ("cut.csv.gz", b"\x1f\x8b\x08" + bytes(9), "ends at byte 12"),
        ("paper.csv", b"%PDF-1.7\n" + bytes(200), "PDF"),
        ("quote.csv", b'id,name,born\n1,"open,1990-01-01\n2,b,1990-01-01\n', "line 2"),
        ("latin.csv", b"id,name,born\n1,Zo\xeb,1990-01-01\n", "UTF-8"),
    ],
)
def test_a_wrong_file_is_refused_with_the_reason_and_nothing_is_loaded(
    target: Target, tmp_path: Path, name: str, content: bytes, message: str
):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(CommandError, match=message):
        call_command("import_csv", str(path), "--target", "t", "--table", "people", "--in-process")
    assert loaded(target)[0] == 0


def test_a_directory_or_a_missing_file_is_refused_by_name(target: Target, tmp_path: Path):
    for path in (tmp_path, tmp_path / "nowhere.csv"):
        with pytest.raises(CommandError, match=path.name):
            call_command("import_csv", str(path), "--target", "t", "--table", "people")
    assert not SourceFile.objects.exists()


def test_a_single_record_without_header_is_data(target: Target, tmp_path: Path, capsys):
    path = tmp_path / "one.csv"
    path.write_text("a,b,c\n")
    with connect(target.address) as connection:
        execute(connection, "CREATE TABLE words (x CHAR(1), y CHAR(1), z CHAR(1))")
    printed = run(capsys, str(path), "--target", "t", "--table", "words", "--no-header", "--plan-only")
    assert "(`x`, `y`, `z`)" in printed


@pytest.mark.parametrize(
    ("text", "flag", "expected"),
    [
        ("7,8,9\n1,2,3\n", "--header", [("1", "2", "3")]),
        ("a,b,c\n1,2,3\n", "--no-header", [("a", "b", "c"), ("1", "2", "3")]),
        ("x,y,\n1,2,\n", "--no-trailing-delimiter", [("1", "2", "")]),
        ("x,y,z,\n1,2,3,\n", "--trailing-delimiter", [("1", "2", "3")]),
        ("x,y,z\n1,,3\n", "--unquoted-empty-null", [("1", None, "3")]),
        ("x,y,z\n1,,3\n", "--no-unquoted-empty-null", [("1", "", "3")]),
        ("x,y,z\n\n1,2,3\n", "--no-keep-blank-lines", [("1", "2", "3")]),
    ],
)
def test_a_switch_of_the_format_is_followed_in_both_directions(
    target: Target, tmp_path: Path, capsys, text: str, flag: str, expected: list[tuple]
):
    """Also where the sample suggests the opposite."""
    path = tmp_path / "words.csv"
    path.write_text(text)
    run_sql(target.address, "CREATE TABLE words (x VARCHAR(9), y VARCHAR(9), z VARCHAR(9))")
    maps = ["--map", "#1=x", "--map", "#2=y", "--map", "#3=z"]
    run(capsys, str(path), "--target", "t", "--table", "words", "--in-process", flag, *maps)
    with connect(target.address) as connection:
        assert fetch_all(connection, "SELECT x, y, z FROM words") == expected


def test_lines_that_are_no_records_are_counted_and_named(target: Target, tmp_path: Path, capsys):
    path = tmp_path / "people.csv"
    path.write_text("People\x1b[31m\n\nid,name,born\n1,Zoë,\n\n2,Zoé,\n\n\n")
    out = run(capsys, str(path), "--target", "t", "--table", "people", "--in-process", "--skip-rows", "2")
    assert "Not data: 1 header, 1 above the table, 4 blank\n  line 1, above the table: 'People\\x1b[31m'\n" in out
    assert "2 = 2 + 0 + 0 + 0 + 0 (rows in the file = loaded + replaced + unchanged + skipped + rejected)" in out


def test_a_file_of_another_dialect_loads_and_its_bad_quotes_are_rejected(
    target_on_each: Target, tmp_path: Path, shell: Shell
):
    path = tmp_path / "people.txt"
    lines = ["People", "", "id||name||born||", "1||Zoë||||", '2||"5" disk"||NA||', '3||""||2001-01-01||', ""]
    path.write_bytes("\r".join(lines).replace("\r3", "\r\n3").encode())
    done = shell.manage(
        *("import_csv", str(path), "--target", "t", "--table", "people", "--in-process", "--json"),
        *(
            "--delimiter",
            "||",
            "--line-end",
            "any",
            "--skip-rows",
            "2",
            "--trailing-delimiter",
            "--unquoted-empty-null",
        ),
        *("--on-error", "reject"),
        check=False,
    )
    report = report_of(done.stdout)
    assert (report["rows"]["source"], report["rows"]["loaded"], report["rows"]["rejected"]) == (3, 2, 1)
    assert [(kind, each["count"]) for kind, each in report["lines"].items()] == [
        ("header", 1),
        ("preamble", 1),
        ("blank", 1),
    ]
    assert report["lines"]["preamble"]["texts"] == [{"line": 1, "text": "People"}]
    assert [kind["code"] for kind in report["rejects"]["reasons"]] == ["stray quote"]
    assert Path(report["rejects"]["reasons_file"]).read_text().splitlines()[1].startswith("5,")
    assert any(reason["choice"] == "Records are rewritten" for reason in report["plan"]["reasons"])
    with connect(target_on_each.address) as connection:
        stored = fetch_all(connection, "SELECT id, name, born IS NULL FROM people ORDER BY id")
    assert stored == [(1, "Zoë", 1), (3, "", 0)]


def test_a_file_of_mysqlbulk_loads_in_parallel_with_line_feeds_in_its_values(
    target_on_each: Target, tmp_path: Path, shell: Shell
):
    path = tmp_path / "people.txt"
    rows = [(number, f"name,\n\t\\{number}", "1990-01-01") for number in range(1, 3001)]
    path.write_text("".join(f"{number}:::,{name}:::,{born}^^^\n" for number, name, born in rows))
    done = shell.manage(
        *("import_csv", str(path), "--target", "t", "--table", "people", "--in-process", "--json", "--no-header"),
        *("--match", "position", "--delimiter", ":::,", "--line-end", r"^^^\n", "--quote", "", "--escape", ""),
        *("--chunk-size", "16K"),
    )
    report = report_of(done.stdout)
    assert (report["outcome"], report["balanced"], report["rows"]["loaded"]) == ("succeeded", True, 3000)
    assert report["reading"]["line_end"] == r"^^^\n"
    with connect(target_on_each.address) as connection:
        assert fetch_all(connection, "SELECT id, name FROM people ORDER BY id") == [row[:2] for row in rows]

"""`millrace check`: the whole file is read, the rows that could not be loaded are named, and nothing is loaded."""

import gzip
import json
from pathlib import Path

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command

from importer.models import AuditEvent, ImportJob, Target
from importer.models.outcomes import FOUND_BAD_ROWS, NEEDS_ANSWER, REFUSED
from tests.documents import read
from tests.importer.management.people_file import loaded

GOOD = "id,name,born\n1,Zoë,1990-01-31\n2,Ann,\n"
BAD = "id,name,born\n1,Zoë,1990-01-31\n2,Ann,1990-02-31\n3,Bob\nx,Eve,1990-03-01\n"


def checked(capsys, *words: str) -> tuple[int, dict]:
    """The exit code of a check, and its document."""
    code = 0
    try:
        call_command("import_csv", *words, "--check-only", "--json")
    except CommandError as error:
        code = error.returncode
    except SystemExit as end:
        code = int(str(end.code))
    document = read(capsys.readouterr().out)
    assert document["exit_code"] == code
    assert list(settings.PLAIN_DIR.glob("*")) == []
    assert not ImportJob.objects.exists()
    assert not AuditEvent.objects.exists()
    return code, document


def written(folder: Path, name: str, text: str) -> str:
    path = folder / name
    path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    return str(path)


@pytest.mark.django_db
class TestWithoutATarget:
    def test_a_good_file_comes_with_the_table_that_it_needs(self, tmp_path, capsys):
        code, document = checked(capsys, written(tmp_path, "people.csv", GOOD))
        assert (code, document["rows"]) == (0, {"source": 2, "bad": 0, "source_is_final": True})
        assert document["create_table"].startswith("CREATE TABLE `people` (\n  `id` ")
        assert [each["type"] for each in document["reading"]["columns"]][2] == "date"
        assert document["lines"]["header"]["count"] == 1
        assert document["problem"] is None

    @pytest.mark.parametrize("ending", [".csv", ".csv.gz"])
    def test_rows_that_do_not_fit_are_named_by_their_line(self, ending, tmp_path, capsys):
        file = written(tmp_path, f"people{ending}", BAD)
        code, document = checked(capsys, file, "--type", "id=int", "--type", "born=date", "--accept-guesses")
        assert (code, document["rows"]["source"], document["rows"]["bad"]) == (FOUND_BAD_ROWS.exit_code, 4, 3)
        first = document["bad_rows"]["first"]
        assert [(each["line"], each["column"], each["value"]) for each in first] == [
            (3, "born", "1990-02-31"),
            (4, "", ""),
            (5, "id", "x"),
        ]
        assert {each["file"] for each in first} == {f"people{ending}"}
        assert sum(each["rows"] for each in document["bad_rows"]["reasons"]) == 3

    def test_the_rows_of_each_of_several_files_are_named_by_its_name(self, tmp_path, capsys):
        files = [written(tmp_path, f"{n}.csv", text) for n, text in enumerate((GOOD, BAD))]
        code, document = checked(capsys, *files, "--type", "id=int", "--type", "born=date")
        assert (code, document["rows"]["source"]) == (FOUND_BAD_ROWS.exit_code, 6)
        assert [(each["file"], each["line"]) for each in document["bad_rows"]["first"]] == [
            ("1.csv", 3),
            ("1.csv", 4),
            ("1.csv", 5),
        ]

    def test_rows_of_another_format_have_the_lines_of_their_file(self, tmp_path, capsys):
        rows = [{"id": 1, "born": "1990-01-31"}, {"id": 2, "born": "1990-02-31"}]
        file = written(tmp_path, "people.jsonl", "\n" + "".join(f"{json.dumps(each)}\n" for each in rows))
        code, document = checked(capsys, file, "--type", "born=date")
        assert (code, document["bad_rows"]["first"][0]["line"]) == (FOUND_BAD_ROWS.exit_code, 3)

    def test_a_question_about_the_file_is_in_the_document(self, tmp_path, capsys):
        file = tmp_path / "names.csv"
        file.write_bytes("name\nZoë\nJosé\n".encode("cp1252"))
        code, document = checked(capsys, str(file))
        assert (code, document["problem"]["code"]) == (NEEDS_ANSWER.exit_code, 1400)
        assert document["reading"]["guesses"][0]["name"] == "encoding"
        assert checked(capsys, str(file), "--encoding", "cp1252", "--header")[0] == 0

    def test_a_file_that_is_none_is_refused(self, tmp_path, capsys):
        code, document = checked(capsys, str(tmp_path / "missing.csv"))
        assert (code, document["file"]) == (REFUSED.exit_code, None)
        assert "missing.csv" in document["problem"]["where"] + document["problem"]["what"]

    def test_a_table_without_a_server_is_refused(self, tmp_path, capsys):
        code, document = checked(capsys, written(tmp_path, "people.csv", GOOD), "--table", "people")
        assert (code, "no server" in document["problem"]["what"]) == (REFUSED.exit_code, True)

    def test_the_text_names_rows_and_the_statement(self, tmp_path, capsys):
        file = written(tmp_path, "people.csv", BAD)
        with pytest.raises(SystemExit):
            call_command("import_csv", file, "--check-only", "--type", "id=int", "--type", "born=date")
        text = capsys.readouterr().out
        *_, found, first, _second, _third = text.splitlines()
        assert found == "people.csv: 4 rows, 3 of them could not be loaded:"
        assert first.startswith("  people.csv, line 3, column born: '1990-02-31': ")
        assert """Read as csv: utf-8, delimiter ',', quote '"', line end lf, a header\n""" in text
        assert "  born -> born date, NULL is empty" in text
        assert "CREATE TABLE `people`" in text

    def test_the_text_shows_lines_that_are_no_records(self, tmp_path, capsys):
        file = written(tmp_path, "people.csv", f"# of the shop\n{GOOD}")
        call_command("import_csv", file, "--check-only", "--comment", "#")
        text = capsys.readouterr().out
        assert "Not data: 1 header, 1 comment\n  line 1, comment: '# of the shop'\n" in text


def test_rows_are_checked_against_the_table_that_exists(target: Target, tmp_path, capsys):
    file = written(tmp_path, "people.csv", BAD + f"4,{'n' * 41},\n")
    code, document = checked(capsys, file, "--target", "t", "--table", "people")
    assert (code, document["rows"]["bad"], document["create_table"]) == (FOUND_BAD_ROWS.exit_code, 4, None)
    assert [(each["line"], each["column"]) for each in document["bad_rows"]["first"]] == [
        (3, "born"),
        (4, ""),
        (5, "id"),
        (6, "name"),
    ]
    assert loaded(target)[0] == 0
    with pytest.raises(SystemExit):
        call_command("import_csv", file, "--target", "t", "--table", "people", "--check-only")
    printed = capsys.readouterr()
    note = "id: 1 of 5 values does not fit"
    assert (printed.out.count(note), printed.err.count(note)) == (1, 0)

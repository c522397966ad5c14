"""Files that a person would not expect to be loaded as they are: what the command and the page say about each."""

import html
from pathlib import Path

import pyarrow as pa
import pytest
from django.core.management import CommandError, call_command
from pyarrow import parquet

from importer.engine.errors import SourceProblem
from importer.models import ImportJob, Target
from tests.dashboard.new_import.test_page import show, uploaded
from tests.engine.source.formats import test_workbooks as books
from tests.importer.formats.workbooks import write_xlsx
from tests.people import operator
from tests.targets import target_with

pytestmark = pytest.mark.usefixtures("no_workers", "plain_dir", "transactional_db")


@pytest.fixture
def target(mariadb) -> Target:
    return target_with(mariadb, "CREATE TABLE items (id INT PRIMARY KEY, name VARCHAR(60))")


def pivot(folder: Path) -> Path:
    path = write_xlsx(folder / "items.xlsx", {"Empty": [], "Sums": [("id",), (2,)]})
    return books.with_pivot(path)


def macros(folder: Path) -> Path:
    path = write_xlsx(folder / "items.xlsx", {"S": [("id", "name"), (1, "a")]})
    return books.with_macros(path)


def cut_line(folder: Path) -> Path:
    return written(folder / "items.jsonl", '{"id": 1}\n{"id": 2, "na')


def cut_dump(folder: Path) -> Path:
    return written(folder / "items.sql", "INSERT INTO items VALUES (1,'a'),(2,'b')")


def drop_only(folder: Path) -> Path:
    return written(folder / "items.sql", "DROP TABLE items;\nDELETE FROM items;\n")


def drop(folder: Path) -> Path:
    return written(folder / "items.sql", "DROP TABLE items;\nINSERT INTO items VALUES (1,'a');\n")


def nested(folder: Path) -> Path:
    parquet.write_table(pa.table({"id": [1], "name": [{"a": [1]}]}), folder / "items.parquet")
    return folder / "items.parquet"


def written(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


REFUSED = {
    pivot: ("Sums: it is a pivot table, which summarises other cells",),
    books.password: ("it is a workbook with a password", "Save it without one."),
    cut_line: ("line 2", "The JSON ends in the middle of an object"),
    cut_dump: ("The file ends without the semicolon of its last INSERT", "add the semicolon"),
    drop_only: ("The SQL has no INSERT or REPLACE with rows.", "Nothing of it is executed."),
}
NOTED = {
    macros: "The workbook has macros, which are not executed.",
    drop: "Other statements are not executed: 1 DROP.",
    nested: "Written as JSON text: name.",
}


def page_of(client, path: Path) -> str:
    """The page of a new import with the file, or why its upload is refused."""
    person = operator("ann")
    client.force_login(person)
    try:
        source = uploaded(person, path.read_bytes(), path.name)
    except SourceProblem as refused:
        return str(refused)
    return " ".join(html.unescape(show(client, source).content.decode()).split())


@pytest.mark.parametrize(("write", "said"), REFUSED.items(), ids=[each.__name__ for each in REFUSED])
def test_it_is_refused_in_command_and_browser_and_nothing_is_done(write, said, target, client, tmp_path, capsys):
    path = write(tmp_path)
    with pytest.raises(CommandError) as refused:
        call_command("import_csv", str(path), "--to", target.name, "--table", "items", "--in-process")
    words, page = f"{refused.value} {capsys.readouterr().err}", page_of(client, path)
    assert [(each in words, each in page) for each in said] == [(True, True)] * len(said), (words, page)
    assert not ImportJob.objects.exists()


@pytest.mark.parametrize(("write", "said"), NOTED.items(), ids=[each.__name__ for each in NOTED])
def test_what_is_not_done_is_said_in_command_and_browser(write, said, target, client, tmp_path, capsys):
    path = write(tmp_path)
    call_command("import_csv", str(path), "--to", target.name, "--table", "items", "--in-process")
    assert said in capsys.readouterr().err
    assert ImportJob.objects.get().loaded_rows == 1
    assert said in page_of(client, path)

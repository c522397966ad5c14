"""A file that is named by its path on the database's host: by command, API and browser."""

import html
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse

from importer.access.acting import acting_as
from importer.access.policy import Forbidden
from importer.connections.by_hand import server_file
from importer.connections.by_hand.resolve import forget_unused
from importer.connections.by_hand.server_file import find_on_server
from importer.engine.errors import SourceProblem, TargetProblem
from importer.engine.mysql.connection import Address
from importer.models import ImportJob, SourceFile
from importer.preparation.prepare import prepare
from tests.dashboard.api.program import Program, problem
from tests.engine.loads import rows_of
from tests.importer.steps import import_of, run
from tests.people import admin, operator
from tests.server_folder import file_for, largest_packet
from tests.targets import on_one_server

pytestmark = pytest.mark.usefixtures("no_workers", "plain_dir", "transactional_db")
TABLE = "CREATE TABLE t (id INT PRIMARY KEY, word VARCHAR(12))"
FILE = b"id,word\n1,one\n2,two\n"
ROWS = [(1, "one"), (2, "two")]
TABLES = (TABLE,)


@pytest.fixture
def there(database: Address, tmp_path: Path, settings) -> Iterator[Path]:
    settings.UPLOAD_DIR = tmp_path / "uploads"
    path = file_for(database, tmp_path, FILE)
    yield path
    path.unlink(missing_ok=True)


@pytest.fixture
def elsewhere(monkeypatch) -> None:
    """This machine does not see the file."""
    monkeypatch.setattr(server_file, "_is_here", lambda _path, _seen: False)


@on_one_server
def test_a_server_that_loads_no_files_is_told_by_the_api_before_anything_is_copied(there, target, monkeypatch):
    read = server_file.read_server

    def without_folder(*args):
        found = read(*args)
        return replace(found, variables={**found.variables, "secure_file_priv": "NULL"}, reads_files=False)

    monkeypatch.setattr(server_file, "read_server", without_folder)
    wanted = {"server_file": str(there), "target": target.name, "table": "t"}
    refused = problem(Program(admin("root")).send("POST", "plans", wanted), 422)
    assert refused["what"] == "The server loads no files that it sees (secure_file_priv is NULL)."
    assert "my.cnf" in refused["advice"]
    assert not SourceFile.objects.exists()


def test_the_command_loads_it_into_a_server_that_is_not_registered(there, database, target):
    url = f"mysql://root@127.0.0.1:{database.port}/{database.database}.t"
    call_command("import_csv", "--server-file", str(there), url, "--in-process")
    job = ImportJob.objects.get()
    assert (job.status, job.balanced, job.plan.statements.method) == ("succeeded", True, "load_data_infile")
    assert (job.source.path, job.source.owned, rows_of(database)) == (str(there), False, ROWS)


def test_a_file_that_only_the_server_sees_is_copied_to_be_read(there, database, target, elsewhere, monkeypatch):
    monkeypatch.setattr(server_file, "WINDOW", 7)
    source = find_on_server(target, str(there))
    assert (source.file.read_bytes(), source.owned, source.name) == (FILE, True, there.name)
    job = run(import_of(source, target))
    assert (job.status, job.balanced, job.plan.statements.method) == ("succeeded", True, "load_data_infile")
    assert rows_of(database) == ROWS


def test_a_copy_that_is_no_longer_what_the_server_has_is_refused_and_goes(there, target, elsewhere):
    source = find_on_server(target, str(there))
    there.write_bytes(FILE + b"3,three\n")
    with pytest.raises(TargetProblem, match="sees another file there: it has 28 bytes, the one here 20"):
        prepare(source, target, "t")
    forget_unused([source])
    assert not SourceFile.objects.exists()


def test_a_copy_of_what_the_server_no_longer_shows_is_refused(there, database, target, elsewhere):
    source = find_on_server(target, str(there))
    there.write_bytes(FILE + b"3,three\n" * 9_000)
    with largest_packet(database, 65_536), pytest.raises(TargetProblem, match="cannot be determined"):
        prepare(source, target, "t")


def test_a_copy_is_bounded(there, target, elsewhere, monkeypatch):
    monkeypatch.setattr(server_file, "MOST_COPIED_AT_ONCE", 9)
    with pytest.raises(SourceProblem, match="20 bytes: at most 9 bytes are copied through the server"):
        find_on_server(target, str(there))
    assert not SourceFile.objects.exists()


def test_the_same_file_without_that_is_sent(there, target):
    found = find_on_server(target, str(there))
    from importer.sources.uploads import register

    plain = register(there)
    assert plain.pk != found.pk
    assert prepare(plain, target, "t").plan.statements.server_file is None


@pytest.mark.parametrize(
    ("name", "said"), [("{folder}/not-there.csv", "does not find the file"), ("orders.csv", "not an absolute path")]
)
def test_a_path_that_is_none_is_refused_by_command_api_and_browser(name, said, there, target, client):
    path = name.format(folder=there.parent)
    with pytest.raises(CommandError, match=said) as raised:
        call_command("import_csv", "--server-file", path, "--to", target.name, "--table", "t", "--in-process")
    assert raised.value.returncode == 4
    ada = admin("ada")
    told = Program(ada).send("POST", "imports", {"server_file": path, "target": target.name, "table": "t"})
    assert (told.status_code, said in told.json()["detail"]) == (422, True), told.json()
    client.force_login(ada)
    answer = client.post(reverse("new_places"), {"path": path, "target": target.name})
    shown = html.unescape(answer.text)
    assert answer.status_code == 422
    assert said in shown
    assert f'value="{path}"' in shown
    assert f"<option selected>{target.name}</option>" in shown
    assert not SourceFile.objects.exists()


def test_api_and_browser_load_it_for_admins(there, database, target, client):
    ada = admin("ada")
    wanted = {"server_file": str(there), "target": target.name, "table": "t"}
    begun = Program(ada).send("POST", "imports", wanted)
    assert begun.status_code == 201, begun.json()
    assert run(ImportJob.objects.get()).balanced
    assert rows_of(database) == ROWS
    client.force_login(ada)
    answer = client.post(reverse("new_places"), {"path": str(there), "target": target.name}, follow=True)
    assert answer.redirect_chain == [(reverse("new_source", args=[SourceFile.objects.get().key]), 302)]
    assert answer.status_code == 200


def test_others_may_not_name_one(there, target, client):
    ann = operator("ann")
    with acting_as(ann), pytest.raises(Forbidden, match="Only admins may load a file that lies on the database's host"):
        find_on_server(target, str(there))
    client.force_login(ann)
    answer = client.post(reverse("new_places"), {"path": str(there), "target": target.name}, follow=True)
    shown = html.unescape(answer.content.decode())
    assert "Only admins may load a file" in shown
    assert 'name="path"' not in shown


def test_it_is_named_alone(there, target):
    with pytest.raises(CommandError, match="cannot be combined with other files"):
        call_command("import_csv", str(there), "--server-file", str(there), "--to", target.name, "--table", "t")

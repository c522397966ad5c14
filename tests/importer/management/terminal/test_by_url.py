"""`millrace load FILE mysql://...`: into a server that is not registered, with a password that no disk keeps."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from importer import targets
from importer.engine.errors import Problem
from importer.engine.mysql.connection import Address, connect, execute, fetch_all
from importer.engine.target import staging
from importer.jobs import lifecycle, report
from importer.jobs.actions import commands
from importer.jobs.steps import table_backup
from importer.jobs.steps.chunk_leases import claim_run
from importer.management.terminal import by_url
from importer.management.terminal.report_text import problem_and_ways_out
from importer.management.terminal.words import PROGRAM
from importer.models import ImportJob, Target
from importer.models.outcomes import REFUSED
from importer.security import held_passwords
from importer.worker import sweep
from tests.importer.steps import import_of, now, queued, take, until
from tests.people import operator
from tests.targets import void

ACCOUNT, PASSWORD = "by_url", "s#cret ' % word"
PLACES = "Access denied .* the password: it is from the URL, --password-env, MYSQL_PWD or the option file"
NO_FLAGS = {"password_env": None, "defaults_file": None}
FILE = "id,v\n1,a\n2,b\n3,c\n"


@pytest.fixture
def file(tmp_path: Path, monkeypatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("MYSQL_PWD", raising=False)
    path = tmp_path / "three.csv"
    path.write_text(FILE)
    return path


@pytest.fixture
def url(database: Address, transactional_db) -> Iterator[str]:
    """The URL of a new table, for an account with a password."""
    with connect(database) as connection:
        execute(connection, "CREATE TABLE three (id INT PRIMARY KEY, v VARCHAR(20))")
        execute(connection, f"CREATE USER {ACCOUNT}@'127.0.0.1' IDENTIFIED BY %s", (PASSWORD,))
        execute(connection, f"GRANT ALL ON `{database.database}`.* TO {ACCOUNT}@'127.0.0.1'")
        yield f"mysql://{ACCOUNT}@127.0.0.1:{database.port}/{database.database}.three"
        execute(connection, f"DROP USER {ACCOUNT}@'127.0.0.1'")


def rows(database: Address) -> int:
    with connect(database) as connection:
        return int(fetch_all(connection, "SELECT COUNT(*) FROM three")[0][0])


def load(*words: str) -> None:
    call_command("import_csv", *words, "--in-process")


def test_a_password_from_an_option_file_loads_and_is_not_kept(file, url, database, tmp_path):
    own = tmp_path / ".my.cnf"
    own.write_text(f'# mine\n[mysqld]\npassword=no\n[client]\nuser = {ACCOUNT}\npassword = "{PASSWORD}"  # it is\n')
    load(str(file), url.replace(f"{ACCOUNT}@", ""))
    assert rows(database) == 3
    job = ImportJob.objects.get()
    assert (job.target.password_ciphertext, job.target.user, job.table_name) == ("", ACCOUNT, "three")
    # The next import of the account has the same target, so that its history is one.
    load(url, "--mode", "replace", str(file))
    assert Target.objects.count() == 1
    assert rows(database) == 3


def test_a_password_from_a_variable_wins_over_the_option_file(file, url, database, tmp_path, monkeypatch):
    other = tmp_path / "other.cnf"
    other.write_text("[client]\npassword=wrong\n")
    monkeypatch.setenv("OF_THREE", PASSWORD)
    load(str(file), url, "--password-env", "OF_THREE", "--defaults-file", str(other))
    assert rows(database) == 3


def test_without_a_password_and_a_terminal_it_is_said_how_to_give_one(file, url, database):
    with pytest.raises(CommandError) as raised:
        load(str(file), url)
    assert "Access denied" in str(raised.value)
    assert "--password-env VAR, MYSQL_PWD or an option file" in str(raised.value)
    assert not ImportJob.objects.exists()
    assert not Target.objects.exists()


def test_a_wrong_password_leaves_no_target(file, url, monkeypatch):
    monkeypatch.setenv("MYSQL_PWD", "wrong")
    with pytest.raises(CommandError, match=PLACES):
        load(str(file), url)
    assert not Target.objects.exists()


def test_of_a_server_that_was_named_before_a_wrong_password_is_explained_as_well(file, url, monkeypatch):
    monkeypatch.setenv("MYSQL_PWD", PASSWORD)
    load(str(file), url)
    monkeypatch.setenv("MYSQL_PWD", "wrong")
    with pytest.raises(CommandError, match=PLACES):
        load(str(file), url)
    with pytest.raises(CommandError, match=PLACES):
        call_command("job", "run", str(ImportJob.objects.get().pk))


def test_its_target_is_among_those_to_choose_from_nowhere(file, url, monkeypatch, capsys):
    monkeypatch.setenv("MYSQL_PWD", PASSWORD)
    load(str(file), url)
    assert Target.objects.get().by_url
    capsys.readouterr()
    call_command("target", "list")
    assert capsys.readouterr().out == ""
    with pytest.raises(CommandError, match="Known: none yet"):
        load(str(file), "--to", "another", "--table", "three")


def test_workers_are_refused_a_password_that_only_the_command_has(file, db, monkeypatch):
    monkeypatch.setenv("MYSQL_PWD", PASSWORD)
    with pytest.raises(CommandError) as raised:
        call_command("import_csv", str(file), "mysql://root@127.0.0.1/db.three", "--workers")
    assert "The running workers do not have the password of this server" in str(raised.value)
    assert not ImportJob.objects.exists()


@pytest.mark.parametrize("action", ["restore", "drop"])
def test_a_kept_table_takes_the_password_and_a_wrong_one_leaves_it_free(file, url, database, monkeypatch, action):
    monkeypatch.setenv("MYSQL_PWD", PASSWORD)
    load(str(file), url, "--mode", "replace")
    job = ImportJob.objects.get()
    monkeypatch.setattr(held_passwords, "_held", {})  # As in the next command.
    monkeypatch.setenv("WRONG", "wrong")
    with pytest.raises(CommandError, match=PLACES):
        call_command("kept_table", action, str(job.pk), "--password-env", "WRONG")
    with pytest.raises(Problem, match="Access denied"):  # As for a password that was changed just now.
        getattr(table_backup, f"{action}_backup")(job.pk)
    job.refresh_from_db()
    assert (job.table_claim, job.step, job.kept_rows) == (None, "", 0)
    call_command("kept_table", action, str(job.pk))
    assert rows(database) == (0 if action == "restore" else 3)


@pytest.mark.parametrize("registered", [False, True])
def test_an_import_is_left_to_the_command_that_has_the_password(file, url, database, tmp_path, monkeypatch, registered):
    monkeypatch.setenv("MYSQL_PWD", PASSWORD)
    load(str(file), url)
    if registered:
        Target.objects.update(by_url=False, password_unstored=False)
        by_url.hold_password_again(Target.objects.get(), {**NO_FLAGS, "in_process": True})
    more = tmp_path / "more.csv"
    more.write_text("id,v\n4,d\n")
    job = import_of(more, Target.objects.get(), "three")
    until(job, "load_run")
    [chunk] = job.chunks.all()
    monkeypatch.setattr(held_passwords, "_held", {})  # As in a worker, or in the web server.
    assert claim_run(chunk.pk) is None
    commands.pause(job.pk)
    commands.resume(job.pk)
    sweep.sweep_jobs(lambda job_id, _: void(lifecycle.advance(job_id)))
    assert queued(job) == []
    ImportJob.objects.filter(pk=job.pk).update(step=ImportJob.Step.VERIFY_QUEUED)
    assert lifecycle.claim_verify(job.pk) is None
    ImportJob.objects.filter(pk=job.pk).update(step=ImportJob.Step.NONE)
    call_command("job", "run", str(job.pk))
    assert rows(database) == 4


def test_a_check_finds_that_the_account_has_no_password_any_more(file, url, database, monkeypatch):
    monkeypatch.setenv("MYSQL_PWD", PASSWORD)
    load(str(file), url)
    monkeypatch.setattr(held_passwords, "_held", {})
    targets.check(Target.objects.get())
    assert Target.objects.get().lacks_password
    with connect(database) as connection:
        execute(connection, f"ALTER USER {ACCOUNT}@'127.0.0.1' IDENTIFIED BY ''")
    targets.check(Target.objects.get())
    assert not Target.objects.get().lacks_password


@pytest.mark.parametrize("way", ["run", "retry", "the next import"])
def test_what_an_import_has_left_is_dropped_by_a_command_with_the_password(
    file, url, database, tmp_path, monkeypatch, way
):
    monkeypatch.setenv("MYSQL_PWD", PASSWORD)
    twice = tmp_path / "twice.csv"
    twice.write_text("id,v\n9,a\n9,b\n")
    with pytest.raises(SystemExit):
        load(str(twice), url, "--mode", "atomic")
    job = ImportJob.objects.get()
    left = staging.staging_name(str(job.key))
    with connect(database) as connection:
        execute(connection, f"CREATE TABLE {left} (id INT)")  # As if the server had been away at the end.
        ImportJob.objects.filter(pk=job.pk).update(staging="ready")
        monkeypatch.setattr(held_passwords, "_held", {})
        sweep.sweep_jobs(lambda job_id, _: [take(step) for step in lifecycle.advance(job_id)])
        assert fetch_all(connection, f"SHOW TABLES LIKE '{left}'")
        drops = f"Once that answers, millrace job run {job.pk} drops it."
        assert drops in "".join(problem_and_ways_out(report.report(now(job)), PROGRAM))
        with pytest.raises(Problem, match=f"{re.escape(drops)} Then retry[.]$"):
            commands.retry(job.pk)
        if way == "the next import":
            load(str(file), url)
        else:
            with pytest.raises(SystemExit):
                call_command("job", way, str(job.pk))
        assert not fetch_all(connection, f"SHOW TABLES LIKE '{left}'")
    assert (now(job).leftover, now(job).status) == (False, ImportJob.Status.FAILED)


def test_through_a_unix_socket(file, database, transactional_db):
    with connect(database) as connection:
        execute(connection, "CREATE TABLE three (id INT PRIMARY KEY, v VARCHAR(20))")
        socket = fetch_all(connection, "SELECT @@socket")[0][0]
    load(str(file), f"mysql://root@localhost/{database.database}.three?socket={socket}")
    assert rows(database) == 3
    assert not Target.objects.get().password_unstored
    call_command("target", "add", "by-socket", f"mysql://root@localhost/{database.database}", "--replace")
    call_command("target", "add", "by-socket", f"mysql://root@/{database.database}?socket={socket}", "--replace")
    target = Target.objects.get(name="by-socket")
    assert (target.host, target.tls) == (socket, Target.Tls.OFF)
    load(str(file), "--to", "by-socket", "--table", "three", "--mode", "upsert")
    assert rows(database) == 3


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["{url}"], "No file is named."),
        (["{file}", "{url}", "--to", "t"], "The server is named twice"),
        (["{file}", "{url}", "--table", "three"], "The table is named twice"),
        (["{file}", "{url}", "{url}"], "Two servers are named."),
        (
            ["{file}", "mysql://root@127.0.0.1/db"],
            "No table is named. Add --table TABLE, or end the URL in /DATABASE.TABLE",
        ),
        (["{file}", "mysql://root@127.0.0.1:99999/db.t"], "no valid host and port"),
        (["{file}", "mysql://root@127.0.0.1/db.t?ssl=1"], "options after ?"),
        # Before a password is asked for, and although no server answers there.
        (["{file}", "/not/there.csv", "mysql://root@127.0.0.1:1/db.t"], "/not/there.csv"),
        (["{file}", "{url}", "--password-env", "NOT_THERE"], "There is no environment variable NOT_THERE."),
        (["{file}", "{url}", "--defaults-file", "/not/there"], "The option file cannot be read."),
    ],
)
def test_a_mistyped_line_is_refused_with_what_is_wrong(words, said, file, monkeypatch, db):
    monkeypatch.setenv("MYSQL_PWD", "any")
    line = [word.format(file=file, url="mysql://root@127.0.0.1/db.three") for word in words]
    with pytest.raises(CommandError) as raised:
        load(*line)
    assert said in str(raised.value)
    assert "any" not in str(raised.value).split()


def test_a_person_who_may_not_add_targets_may_not_name_a_server(file, db):
    operator("olga")
    with pytest.raises(CommandError) as raised:
        load(str(file), "mysql://root@127.0.0.1/db.three", "--as", "olga")
    assert raised.value.returncode == REFUSED.exit_code
    assert "Only admins may load into a server that is not registered." in str(raised.value)

"""`millrace job`: an import is listed, followed, paused, retried, and its rejects are written."""

import json
from datetime import timedelta
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from importer.engine.mysql.connection import connect, execute
from importer.jobs import lifecycle
from importer.jobs.actions import commands
from importer.jobs.report import report
from importer.models import ImportJob, Target
from importer.models.outcomes import CANCELLED, FAILED, UNREACHABLE
from importer.security import held_passwords
from tests.importer.management.people_file import ROWS, loaded
from tests.importer.steps import import_of

pytestmark = pytest.mark.usefixtures("redis", "no_workers")


def code(*words: str) -> int:
    """The exit code of `job` with these words."""
    try:
        call_command("job", *words)
    except SystemExit as end:
        return int(end.code or 0)
    return 0


def created(target: Target, people: Path) -> ImportJob:
    return import_of(people, target, "people")


def cancelled(target: Target, people: Path) -> ImportJob:
    job = created(target, people)
    lifecycle.advance(job.pk)
    code("cancel", str(job.pk))
    lifecycle.advance(job.pk)
    return job


def test_a_cancelled_import_is_retried_to_its_end(target: Target, people: Path, capsys):
    job = created(target, people)
    lifecycle.advance(job.pk)
    assert code("cancel", str(job.pk)) == 0
    lifecycle.advance(job.pk)
    assert code("wait", str(job.pk)) == CANCELLED.exit_code
    assert loaded(target)[0] == 0
    capsys.readouterr()
    assert code("retry", str(job.pk), "--json") == 0
    assert json.loads(capsys.readouterr().out)["rows"]["loaded"] == ROWS
    assert loaded(target)[0] == ROWS
    with pytest.raises(CommandError):
        call_command("job", "retry", str(job.pk))
    assert code("list") == 0
    assert f"{job.pk}: succeeded, {people.name} into" in capsys.readouterr().out


def test_a_retry_on_a_server_that_is_down_says_so_by_its_exit_code(target: Target, people: Path, closed_port: int):
    job = cancelled(target, people)
    Target.objects.filter(pk=target.pk).update(host="127.0.0.1", port=closed_port)
    with pytest.raises(CommandError) as end:
        call_command("job", "retry", str(job.pk))
    assert end.value.returncode == UNREACHABLE.exit_code


def test_the_priority_is_changed_until_the_end(target: Target, people: Path, capsys):
    job = created(target, people)
    assert code("priority", str(job.pk), "high") == 0
    assert "has the priority high now" in capsys.readouterr().out
    job.refresh_from_db()
    assert report(job)["priority"] == "high"
    commands.cancel(job.pk)
    lifecycle.advance(job.pk)
    with pytest.raises(CommandError, match="has ended"):
        call_command("job", "priority", str(job.pk), "low")


def test_rejects_are_written_once_bad_rows_are_left_out(target: Target, people: Path, tmp_path: Path, capsys):
    people.write_text(people.read_text().replace("\n77,", "\nseventy-seven,"))
    with pytest.raises(SystemExit) as ended:
        call_command("import_csv", str(people), "--target", "t", "--table", "people", "--in-process")
    assert ended.value.code == FAILED.exit_code
    job = ImportJob.objects.get()
    assert f": millrace job retry {job.pk} --on-error reject\n" in capsys.readouterr().err
    assert code("retry", str(job.pk), "--on-error", "reject") == 5
    printed = capsys.readouterr().out
    assert "  1 row: column id: " in printed
    assert f": millrace job rejects {job.pk} --out FILE\n" in printed
    out = tmp_path / "rejects.csv"
    assert code("rejects", str(job.pk), "--out", str(out)) == 0
    assert out.read_text().splitlines()[1].startswith("seventy-seven,")
    with pytest.raises(CommandError, match="There is a file of that name"):
        call_command("job", "rejects", str(job.pk), "--out", str(out))
    assert code("rejects", str(job.pk), "--reasons", "--out", str(tmp_path / "reasons.csv")) == 0
    assert "seventy-seven" in (tmp_path / "reasons.csv").read_text()


def test_after_duplicates_the_options_for_them_are_named(target: Target, people: Path, capsys):
    words = ("import_csv", str(people), "--target", "t", "--table", "people", "--in-process")
    call_command(*words, "--verify", "full")
    assert "ledger on the server, each stored value compared with the file\n" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        call_command(*words)
    said = capsys.readouterr().err
    assert "with --on-duplicate skip, and replaces those rows with --on-duplicate replace." in said
    capsys.readouterr()
    code("show", str(ImportJob.objects.latest("pk").pk))
    assert "line 2: " in capsys.readouterr().out


def test_a_retry_takes_the_password_that_no_disk_keeps(target: Target, people: Path, monkeypatch):
    monkeypatch.setattr(held_passwords, "_held", {})
    root = target.address
    job = cancelled(target, people)
    with connect(root) as connection:
        execute(connection, "CREATE USER retrying@'127.0.0.1' IDENTIFIED BY 'right'")
        execute(connection, f"GRANT ALL ON `{target.database}`.* TO retrying@'127.0.0.1'")
    Target.objects.update(user="retrying", password_ciphertext="")
    monkeypatch.setenv("MYSQL_PWD", "right")
    try:
        assert code("retry", str(job.pk)) == 0
        assert loaded(ImportJob.objects.get().target)[0] == ROWS
    finally:
        with connect(root) as connection:
            execute(connection, "DROP USER retrying@'127.0.0.1'")


def test_a_retry_into_a_server_without_a_password_ignores_that_of_another(target: Target, people: Path, monkeypatch):
    monkeypatch.setattr(held_passwords, "_held", {})
    assert not target.password_ciphertext
    job = cancelled(target, people)
    monkeypatch.setenv("MYSQL_PWD", "of another server")
    assert code("retry", str(job.pk)) == 0
    assert loaded(target)[0] == ROWS


def test_pause_and_resume(target: Target, people: Path, capsys):
    job = created(target, people)
    lifecycle.advance(job.pk)
    assert code("pause", str(job.pk)) == 0
    assert f"millrace job resume {job.pk}" in capsys.readouterr().out
    assert code("resume", str(job.pk)) == 0
    job.refresh_from_db()
    assert job.status == ImportJob.Status.LOADING


def test_of_an_import_whose_process_has_died_it_is_said_how_to_continue(target: Target, people: Path, capsys):
    job = created(target, people)
    past = timezone.now() - timedelta(hours=1)
    ImportJob.objects.update(created_at=past, phase_since=past)
    for word in ("show", "why"):
        assert code(word, str(job.pk)) == 0
        assert f"No process loads the import. The last sign of life is of {past:%Y-%m-%d}" in capsys.readouterr().out
    with pytest.raises(CommandError, match=f"is waiting and cannot be retried.*: millrace job run {job.pk}$"):
        call_command("job", "retry", str(job.pk))
    assert code("run", str(job.pk)) == 0

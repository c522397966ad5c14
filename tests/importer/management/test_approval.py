"""The commands of an import that needs another person's approval."""

from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from config.contracts.outcomes import REFUSED
from importer.jobs.approval import digest_of
from importer.models import AuditEvent, ImportJob, Level, Target
from tests.documents import read
from tests.people import operator

Status = ImportJob.Status


def run(*line: str) -> tuple[int, str]:
    """The exit code, and what the command wrote."""
    out = StringIO()
    try:
        call_command(*line, stdout=out, stderr=out)
    except SystemExit as end:
        return int(end.code or 0), out.getvalue()
    except CommandError as error:
        return error.returncode, out.getvalue() + str(error)
    return 0, out.getvalue()


@pytest.fixture
def marked(target: Target) -> Target:
    Target.objects.filter(pk=target.pk).update(needs_approval=True)
    operator("ann", Level.LOAD)
    operator("bob", Level.LOAD)
    return target


def begun(people: Any, *more: str) -> tuple[int, str, ImportJob]:
    line = ("import_csv", str(people), "--target", "t", "--table", "people", "--in-process", "--as", "ann", *more)
    code, text = run(*line)
    return code, text, ImportJob.objects.latest("pk")


def test_an_import_ends_with_a_code_of_its_own_and_says_what_to_do(marked, people):
    code, text, job = begun(people)
    assert (code, job.status, job.accounted_rows) == (9, Status.UNAPPROVED, 0)
    assert f"Import {job.pk} waits for approval by another person" in text
    assert digest_of(job) in text
    assert "Ask bob." in text
    assert f"millrace job approve {job.pk}" in text


def test_its_report_says_so(marked, people):
    _, text, job = begun(people, "--json")
    report = read(text)
    assert (report["outcome"], report["exit_code"], report["job"]) == ("waits for approval", 9, job.pk)
    assert report["approval"] == {"digest": digest_of(job), "approved_by": None, "approved_at": None}


def test_another_person_approves_it_and_it_runs(marked, people):
    _, _, job = begun(people)
    code, text = run("job", "plan", str(job.pk), "--as", "bob")
    digest = digest_of(job)
    assert (code, f"Digest: {digest}" in text, "LOAD DATA" in text) == (0, True, True)
    assert run("job", "approve", str(job.pk), "--digest", digest[:16], "--as", "bob")[0] == 0
    code, text = run("job", "run", str(job.pk), "--as", "ann")
    assert (code, "succeeded" in text) == (0, True)
    job.refresh_from_db()
    assert (job.balanced, job.approved_by.username) == (True, "bob")
    event = AuditEvent.objects.get(object_id=str(job.pk), actor_name="bob", action="command")
    assert (event.details["command"], event.details["approved"]) == ("job approve", digest)


@pytest.mark.parametrize("who", [["--as", "ann"], []])
def test_neither_who_started_it_nor_the_system_approves_it(marked, people, who: list[str]):
    _, _, job = begun(people)
    code, text = run("job", "approve", str(job.pk), "--digest", digest_of(job), *who)
    assert (code, "another person" in text or "--as USER" in text) == (4, True)
    assert run("job", "refuse", str(job.pk), "--reason", "no", *who)[0] == 4
    job.refresh_from_db()
    assert job.status == Status.UNAPPROVED


def test_a_wrong_digest_approves_nothing(marked, people):
    _, _, job = begun(people)
    code, text = run("job", "approve", str(job.pk), "--digest", "0" * 20, "--as", "bob")
    assert (code, "not what you have seen" in text) == (REFUSED.exit_code, True)


def test_a_refused_one_ends_as_refused(marked, people):
    _, _, job = begun(people)
    assert run("job", "refuse", str(job.pk), "--reason", "not this month", "--as", "bob")[0] == 0
    code, text = run("job", "run", str(job.pk))
    assert (code, "bob refused this import: not this month" in text) == (4, True)


def test_it_can_be_cancelled(marked, people):
    _, _, job = begun(people)
    assert run("job", "cancel", str(job.pk), "--as", "ann")[0] == 0
    assert run("job", "run", str(job.pk))[0] == 8


def test_without_the_mark_it_runs(marked, people):
    _, _, job = begun(people)
    Target.objects.update(needs_approval=False)
    assert run("job", "run", str(job.pk))[0] == 0


def test_the_mark_is_an_option_of_a_target(target, mariadb, monkeypatch):
    url = f"mysql://{mariadb.user}@{mariadb.host}:{mariadb.port}/{mariadb.database}"
    monkeypatch.setenv("FOUR_EYES_PASSWORD", mariadb.password)
    for word, marked in (("yes", True), ("no", False)):
        line = ("target", "add", "t", url, "--replace", "--password-env", "FOUR_EYES_PASSWORD", "--tls", "off")
        assert run(*line, "--needs-approval", word)[0] == 0
        assert run(*line)[0] == 0
        target.refresh_from_db()
        assert target.needs_approval is marked

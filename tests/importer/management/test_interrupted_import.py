"""`millrace load`, ended by Ctrl-C, a kill or a problem after its beginning."""

import json
import os
import signal
import socket
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from importer.engine.errors import Problem
from importer.engine.load import ledger
from importer.engine.mapping.columns import FieldOverride
from importer.engine.mysql.connection import connect, execute
from importer.engine.plan.options import Options
from importer.jobs import lifecycle
from importer.jobs.actions import commands
from importer.jobs.actions.again import unfinished
from importer.jobs.report import report_of_problem
from importer.models import Chunk, ImportJob, SourceFile, Target
from importer.models.outcomes import CANCELLED, FAILED
from importer.preparation.prepare import ImportRequest, prepare
from importer.sources import uploads
from tests.importer.management.people_file import ROWS, loaded, report_of
from tests.importer.steps import import_of
from tests.people import operator
from tests.shell import Shell
from tests.stack import ROOT, Stack, wait_until

# The imports stay as each test leaves them.
pytestmark = pytest.mark.usefixtures("no_workers")


def wait_for_line(command: subprocess.Popen[str], text: str) -> None:
    """Read standard error until a line has the text. Fails with all lines if the command ends before."""
    lines: list[str] = []
    assert command.stderr
    for line in command.stderr:
        lines.append(line)
        if text in line:
            return
    raise AssertionError(f"{text!r} is not in:\n{''.join(lines)}")


@pytest.mark.parametrize("again", [False, True])
def test_the_import_of_a_killed_process_is_finished_by_the_next_one(
    target: Target, people: Path, tmp_path: Path, stack_env: Stack, shell: Shell, again: bool
):
    """By one of another file, and by the same command, as cron repeats it: no row comes twice, also without a key."""
    if again:
        with connect(target.address) as connection:
            execute(connection, "ALTER TABLE people DROP PRIMARY KEY")
    args = ["import_csv", "--target", "t", "--table", "people", "--in-process", "--commit-rows", "5", "--parallel", "1"]
    with connect(target.address) as holding:
        ledger.create(holding)
        execute(holding, "BEGIN")
        killed = subprocess.Popen(
            [sys.executable, "manage.py", *args, str(people)], cwd=ROOT, env=stack_env.env, start_new_session=True
        )
        wait_until(ImportJob.objects.exists)
        first = ImportJob.objects.get()
        # The load waits for the last chunk, and has recorded those before.
        assert ledger.insert(holding, ledger.Entry(str(first.key), ROWS // 5 - 1, 1, 5, 0, ""))
        wait_until(lambda: Chunk.objects.filter(status=Chunk.Status.LOADED).exists())
        os.killpg(killed.pid, signal.SIGKILL)
        killed.wait()
    first.refresh_from_db()
    assert not first.ended
    one_more = tmp_path / "one_more.csv"
    one_more.write_text(f"id,name,born\n{ROWS},Zoë,\n")
    done = shell.manage(*args, str(people if again else one_more))
    continues = f"Import {first.pk} of the same file into {first.table} has not ended: this command continues it"
    waits = f"Import {first.pk} has the table {first.table}: this one waits for it."
    assert (continues if again else waits) in done.stderr
    ended = [job.status for job in ImportJob.objects.order_by("pk")]
    assert ended == [ImportJob.Status.SUCCEEDED] * (1 if again else 2)
    assert loaded(target)[0] == (ROWS if again else ROWS + 1)


@pytest.mark.parametrize(
    ("other", "same"),
    [
        ({}, True),
        ({"options": Options(mode="atomic")}, False),
        ({"overrides": [FieldOverride("born", "")]}, False),
        ({"content": "id,name,born\n1,Zoë,\n"}, False),
    ],
)
def test_only_the_same_import_is_continued(target: Target, people: Path, other: dict, same: bool):
    first = import_of(people, target, "people")
    other = dict(other)
    people.write_text(other.pop("content", people.read_text()))
    prepared = prepare(uploads.register(people), target, "people", ImportRequest(**other))
    assert unfinished(prepared, None) == (first if same else None)
    assert unfinished(prepared, operator("olga")) is None
    commands.cancel(first.pk)
    assert unfinished(prepared, None) is None


def test_files_that_arrive_are_not_taken_for_the_same(target: Target, people: Path):
    SourceFile.objects.filter(pk=uploads.register(people).pk).update(fingerprint="")
    source = SourceFile.objects.get()
    import_of(source, target, "people")
    assert unfinished(prepare(source, target, "people", ImportRequest()), None) is None


def test_ctrl_c_during_the_planning_ends_as_cancelled(target: Target, people: Path, tmp_path: Path, stack_env: Stack):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        Target.objects.update(host="127.0.0.1", port=silent.getsockname()[1])
        args = ["import_csv", str(people), "--target", "t", "--table", "people", "--json"]
        # A test run in the background of a shell ignores the signal, and so would the command.
        as_in_a_terminal = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
        command = subprocess.Popen(
            [sys.executable, "manage.py", *args],
            cwd=ROOT,
            env=stack_env.env,
            stdout=subprocess.PIPE,
            text=True,
            preexec_fn=as_in_a_terminal,  # noqa: PLW1509 -- no thread of the tests holds a lock that the child takes
        )
        connection, _ = silent.accept()  # The planning waits for the server's greeting.
        command.send_signal(signal.SIGINT)
        connection.close()
        printed, _ = command.communicate()
    report = report_of(printed)
    assert (command.returncode, report["outcome"], report["problem"]["code"]) == (8, CANCELLED.words, 1500)
    assert not ImportJob.objects.exists()


def test_ctrl_c_on_an_import_that_is_ending_waits_for_its_end(target: Target, people: Path, stack_env: Stack):
    owner = import_of(people, target, "people")
    lifecycle.advance(owner.pk)
    words = ("--target", "t", "--table", "people", "--json", "--again", "--workers")
    command = subprocess.Popen(
        [sys.executable, "manage.py", "import_csv", str(people), *words],
        cwd=ROOT,
        env=stack_env.env,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509 -- as above
    )
    wait_for_line(command, f"Import {owner.pk} has the table")
    job = ImportJob.objects.exclude(pk=owner.pk).get()
    # Somebody else has just cancelled it.
    ImportJob.objects.filter(pk=job.pk).update(status="cancelling")
    command.send_signal(signal.SIGINT)
    wait_for_line(command, "is being cancelled and cannot be cancelled")
    lifecycle.advance(job.pk)
    printed, _ = command.communicate()
    report = report_of(printed)
    assert (command.returncode, report["job"], report["outcome"]) == (CANCELLED.exit_code, job.pk, CANCELLED.words)


def test_a_problem_after_the_beginning_is_reported_with_the_import(target: Target, people: Path):
    job = import_of(people, target, "people")
    problem = Problem("The command cannot continue.")
    under_way = report_of(json.dumps(report_of_problem(problem, job)))
    assert (under_way["job"], under_way["outcome"], under_way["exit_code"]) == (job.pk, None, None)
    assert under_way["problem"]["what"] == problem.what
    ImportJob.objects.filter(pk=job.pk).update(status="failed", problem=Problem("A disk is full.").as_json())
    job.refresh_from_db()
    ended = report_of(json.dumps(report_of_problem(problem, job)))
    assert (ended["job"], ended["outcome"], ended["problem"]["what"]) == (job.pk, FAILED.words, "A disk is full.")

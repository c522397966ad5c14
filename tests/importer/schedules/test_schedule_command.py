"""`millrace schedule`, whose JSON output is a contract."""

from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from importer.management.verbs import schedules as schedule_command
from importer.models import Schedule, ScheduleRun
from tests.documents import read
from tests.importer.management.command_line.interrupts import press_ctrl_c_in_sleep
from tests.importer.schedules.conftest import drop
from tests.importer.schedules.steps import run_now, to_end
from tests.importer.steps import import_of
from tests.importer.steps import run as run_job

pytestmark = pytest.mark.usefixtures("no_workers")


def told(*args: str) -> str:
    out = StringIO()
    call_command("schedule", *args, stdout=out, stderr=StringIO())
    return out.getvalue()


def schedule(*args: str) -> dict:
    return read(told(*args, "--json"))


def test_a_schedule_is_created_run_shown_and_paused(make, folder, tmp_path):
    target = make("other").target
    job = run_job(import_of(drop(tmp_path, "made.csv"), target))
    where = ["--connection", "incoming", "--pattern", "*.csv", "--zone", "Asia/Tokyo"]
    created = schedule(
        "create-from-job", str(job.pk), "--name", "daily", *where, "--cron", "30 2 * * *", "--misfire", "all"
    )
    assert (created["when"], created["table"], len(created["upcoming"])) == (
        "At 02:30 every day, Asia/Tokyo",
        job.table,
        5,
    )
    assert "other loads into" in created["warnings"][0]
    drop(folder, "a.csv", "2,two\n3,three\n")
    begun = schedule("run", "daily", "--no-wait", "--date", "2026-01-01")
    assert (begun["cause"], begun["status"], begun["moment"]) == ("by hand", "waiting", "2025-12-31T17:30:00+00:00")
    to_end(ScheduleRun.objects.get(pk=begun["run"]))
    shown, of_the_import = schedule("show", "daily")["runs"]
    assert (of_the_import["status"], of_the_import["files"][0]["name"]) == ("skipped", "made.csv")
    assert [(each["name"], each["outcome"], each["rows"]) for each in shown["files"]] == [("a.csv", "loaded", 2)]
    assert "a.csv: loaded, 2 rows" in told("show", "daily")
    assert "rejected rows of each file: none" in told("show", "daily")
    listed = {each["name"]: each for each in schedule("list")["schedules"]}
    assert (listed["daily"]["last_run"]["status"], listed["other"]["when"]) == ("succeeded", "When a new file appears")
    assert schedule("pause", "daily")["paused"]
    assert not schedule("resume", "daily")["paused"]


def test_ctrl_c_ends_the_waiting_and_not_the_run(make, folder, monkeypatch, capsys):
    make()
    drop(folder, "a.csv")
    press_ctrl_c_in_sleep(monkeypatch, schedule_command)
    with pytest.raises(SystemExit) as ended:
        call_command("schedule", "run", "nightly", "--json")
    printed, said = capsys.readouterr()
    run = ScheduleRun.objects.get()
    assert (ended.value.code, read(printed)["run"], run.ended) == (1, run.pk, False)
    assert f"Run {run.pk} continues. millrace schedule show nightly shows it." in said


def test_a_problem_of_the_command_is_one_line(make, folder):
    drop(folder, "a.csv", "bad,x\n")
    run_now(make())
    for args, said in (
        (["show", "weekly"], "Known: nightly"),
        (["run", "nightly", "--date", "9999-12-31"], "has not begun"),
        (["resume", "nightly"], "is not paused"),
        (["forget", "nightly", "b.csv"], "No attempt to load b.csv has failed"),
        (["create-from-job", "99", "--name", "x", "--connection", "incoming", "--pattern", "*"], "no import 99"),
    ):
        with pytest.raises(CommandError, match=said):
            told(*args)
    assert "loads a.csv as a new file" in told("forget", "nightly", "a.csv")
    assert Schedule.objects.count() == 1


def test_a_file_that_was_loaded_is_not_forgotten(make, folder):
    """Its failed attempt, before it was corrected, was no reason to forget it: the next run would not load it."""
    made = make()
    for content in ("bad,x\n", "2,two\n"):
        drop(folder, "a.csv", content)
        run_now(made)
    with pytest.raises(CommandError, match="take its rows out of the table, and import it by hand"):
        told("forget", "nightly", "a.csv")

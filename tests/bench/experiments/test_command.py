"""`millrace experiment`: every published experiment runs on every server and leaves nothing behind."""

import re
import shlex
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from html import unescape
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command
from django.urls import reverse

from bench.experiments import command, in_worker, private_server, runner
from bench.experiments.published.registry import EXPERIMENTS
from importer import lab
from importer.engine.errors import Cancelled, Problem
from importer.engine.mysql.connection import Address
from importer.lab.lifecycle import GONE, end_abandoned, finish
from importer.lab.transitions import claim, end
from importer.management.commands.experiment import Command
from importer.models import Chunk, ImportJob, Lab, SourceFile, Target, Trial
from importer.models.outcomes import CANCELLED
from tests.dashboard.api.program import Program
from tests.documents import read
from tests.engine.loads import run_sql
from tests.importer.labs import record_count, tables
from tests.importer.steps import import_of
from tests.importer.steps import run as run_import
from tests.people import operator
from tests.stack import PYTHON, ROOT, Stack, wait_until
from tests.targets import saved_target

TINY = ["--repeats", "1", "--no-warm-up", "--seed", "1"]
# What no server of today does any more, with its answer.
REFUSED = {"bulks": {"INSERT DELAYED": r"(error 1616|warning 3005), .* Use INSERTs of many rows or LOAD DATA"}}


@pytest.fixture
def program(transactional_db) -> Program:
    """Of an operator, who may load into all targets."""
    return Program(operator("ann"))


def require_nothing_left(address: Address) -> None:
    assert (tables(address), record_count(address)) == (set(), 0)
    assert not ImportJob.objects.exists()
    assert not SourceFile.objects.exists()
    assert list(settings.LAB_DIR.glob("*-*-*-*-*.*")) == []


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_an_experiment_measures_every_way_and_leaves_nothing_behind(
    name, database, tmp_path: Path, transactional_db, admin_client
):
    """Private servers take seconds to start: test_private_servers.py has those ways."""
    target = saved_target(database, database.database)
    out = StringIO()
    ways = [each.name for each in EXPERIMENTS[name].ways if not each.server]
    call_command(
        *("experiment", "run", name, "--target", target.name, "--size", "40", *TINY, "--json"),
        *(word for way in ways for word in ("--way", way)),
        *("--report", str(tmp_path)),
        stdout=out,
    )
    result = read(out.getvalue())
    assert [each["way"] for each in result["ways"]] == ways
    failed = {each["way"]: each["failed"] for each in result["ways"] if each["failed"]}
    assert set(failed) == set(REFUSED.get(name, {}))
    assert all(re.search(said, failed[way]) for way, said in REFUSED.get(name, {}).items())
    assert all(each["rate"]["median"] > 0 for each in result["ways"] if each["way"] not in failed)
    assert {each["verdict"] for each in result["claims"]} <= {"agrees", "disagrees", "not comparable"}
    linked = [each["how"] for each in result["ways"] if "gigabit" in each["way"] or "away" in each["way"]]
    assert (bool(linked), all("measured before it" in each for each in linked)) == (name == "methods", True)
    require_nothing_left(database)
    done = Lab.objects.get()
    assert done.status == Lab.Status.DONE
    pages = ("lab", "lab_charts", "lab_report")
    assert [admin_client.get(reverse(page, args=[done.pk])).status_code for page in pages] == [200, 200, 200]
    flavour = result["server"].split()[0].lower()
    report = (tmp_path / f"{name}-{flavour}.md").read_text()
    assert f"`millrace experiment run {name} --target {target.name} --size 40 --repeats 1 --seed 1" in report
    assert all(f"| {each} |" in report for each in ways)
    assert (tmp_path / f"{name}-{flavour}.svg").read_text().startswith("<svg")


def test_experiment_run_reports_each_way_when_it_begins_and_when_it_ends(mariadb, transactional_db):
    target, out, printed = saved_target(mariadb, mariadb.database), StringIO(), StringIO()
    arguments = ["--target", target.name, "--size", "40", "--repeats", "1", "--seed", "1", "--no-warm-up"]
    arguments += ["--during-imports", "--server-program", "/opt/a server/mysqld", "--way", "16 *, 1 session"]
    ways = {"1 partition, 1 session", "16 partitions, 1 session"}
    call_command("experiment", "run", "partitions", *arguments, stdout=out, stderr=printed)
    assert (
        f"To repeat it: `{shlex.join(['millrace', 'experiment', 'run', 'partitions', *arguments])}`" in out.getvalue()
    )
    _, *lines = printed.getvalue().splitlines()
    assert {begins.partition(" round 1: ")[2] for begins in lines[::2]} == ways
    assert all(re.fullmatch(r"  after \d+ s, its tables included: [\d,.]+/s", each) for each in lines[1::2])
    assert len(lines) == 2 * len(ways)


def test_the_lab_keeps_the_figures_so_far(mariadb, transactional_db):
    target, kept = saved_target(mariadb, mariadb.database), []

    def tell(_line: str) -> None:
        report = Lab.objects.get().report_json or {"ways": []}
        kept.append([bool(each["rate"]) for each in report["ways"]])

    options = {"name": "partitions", "target": target.name, "size": "40", "repeats": 1, "seed": 1, "warm_up": False}
    options |= {"during_imports": True, "way": ["16 *, 1 session"], "server_program": "", "report": None}
    command.run(options, tell)
    assert [sum(each) for each in kept] == [0, 0, 0, 1, 1]
    assert {len(each) for each in kept[1:]} == {2}


def test_a_trial_that_an_import_disturbed_is_announced_as_repeated(mariadb, tmp_path: Path, transactional_db):
    target, lines = saved_target(mariadb, mariadb.database), []
    run_sql(mariadb, "CREATE TABLE t (n INT)")
    (tmp_path / "rows.csv").write_text("n\n1\n")

    def tell(line: str) -> None:
        lines.append(line)
        if len(lines) == 2:
            run_import(import_of(tmp_path / "rows.csv", target))

    options = {"name": "partitions", "target": target.name, "size": "40", "repeats": 1, "seed": 1, "warm_up": False}
    options |= {"during_imports": False, "way": ["1 partition, 1 session"], "server_program": "", "report": None}
    command.run(options, tell)
    begins = "1/1 round 1: 1 partition, 1 session"
    assert lines[1:4] == [begins, "  an import ran on the target at the same time: this trial is repeated", begins]
    assert lines[4].endswith("/s")


def ordered(target: Target, program: Program, **wanted: Any) -> Lab:
    """An experiment that a program has ordered by the API."""
    wanted = {"name": "partitions", "target": target.name, "size": "40", "ways": ["16 *, 1 session"], **wanted}
    wanted = {"repeats": 1, "seed": 1, "warm_up": False, "during_imports": True, **wanted}
    answer = program.post(reverse("api_experiments"), wanted, "application/json")
    assert answer.status_code == 201, answer.content
    return Lab.objects.get(pk=answer.json()["lab"])


def test_an_ordered_experiment_is_run_by_a_worker_and_reported(stack: Stack, database, program):
    """Private servers are left out: the worker's host need not have one."""
    target = saved_target(database, database.database)
    lab = ordered(target, program)
    wait_until(lambda: Lab.objects.get(pk=lab.pk).ended, what="the end of the experiment")
    shown = program.get(reverse("api_lab", args=[lab.pk])).json()
    assert shown["problem"] is None
    assert (shown["status"], [len(each["rates"]) for each in shown["ways"]]) == ("done", [1, 1])
    report = program.get(reverse("api_lab_report", args=[lab.pk])).json()
    assert [each["rates"] for each in report["ways"]] == [each["rates"] for each in shown["ways"]]
    words = f"millrace experiment run partitions --target {target.name} --size 40 --repeats 1 --seed 1"
    assert report["command"].startswith(words)
    require_nothing_left(database)


def test_an_ordered_experiment_can_be_cancelled_before_and_while_it_runs(stack, database, program):
    target = saved_target(database, database.database)
    labs = [ordered(target, program, size="200000", repeats=5) for _ in range(2)]
    # Either may be the first that a worker takes.
    wait_until(lambda: Trial.objects.filter(status="running").exists(), what="a trial")
    for each in sorted(labs, key=lambda lab: lab.trials.filter(status="running").exists()):
        answer = program.post(reverse("api_lab_cancel", args=[each.pk]))
        assert answer.status_code == 200, (answer.content, Lab.objects.get(pk=each.pk).problem)
    wait_until(lambda: all(each.ended for each in Lab.objects.all()), what="their ends")
    assert {each.status for each in Lab.objects.all()} == {Lab.Status.CANCELLED}
    require_nothing_left(database)


@pytest.mark.parametrize(("how", "status"), [("end", Lab.Status.CANCELLED), ("kill", Lab.Status.FAILED)])
def test_an_ordered_experiment_ends_with_its_worker(stack, database, program, how: str, status: str):
    lab = ordered(saved_target(database, database.database), program, size="200000", repeats=5)
    wait_until(lambda: Lab.objects.get(pk=lab.pk).trials.filter(status="running").exists(), what="a trial")
    getattr(stack.control_worker, how)()
    stack.control_worker.start()
    wait_until(lambda: Lab.objects.get(pk=lab.pk).ended, what="the end of the experiment")
    assert Lab.objects.get().status == status
    require_nothing_left(database)


def test_a_page_starts_an_experiment_and_says_what_is_missing_before(database, program, admin_client, monkeypatch):
    target = saved_target(database, database.database)
    monkeypatch.setattr(private_server, "path_of", lambda _program: "")
    page = unescape(admin_client.get(reverse("lab_experiments")).content.decode())
    assert "On a target with MySQL they are not measured: This machine has no mysqld of MySQL" in page
    listed = program.get(reverse("api_experiments")).json()
    assert {each["name"]: bool(each["private"]) for each in listed}["partitions"]
    assert set(listed[0]["missing"]) == {"MariaDB", "MySQL"}
    form = {"name": "partitions", "target": target.name, "size": "50", "repeats": "1"}
    refused = admin_client.post(reverse("lab_experiment_start"), {**form, "repeats": "many"})
    assert (refused.status_code, "is no number of rounds" in refused.content.decode()) == (422, True)
    answer = admin_client.post(reverse("lab_experiment_start"), form)
    lab = Lab.objects.get()
    assert (answer.url, lab.status, lab.sample_rows) == (reverse("lab", args=[lab.pk]), Lab.Status.WAITING, 50)


def test_a_second_press_of_start_leads_to_the_lab_of_the_first(database, program, admin_client):
    target = saved_target(database, database.database)

    def lab_of(**form: str) -> str:
        form = {"name": "partitions", "target": target.name, "size": "50", "repeats": "1", **form}
        return admin_client.post(reverse("lab_experiment_start"), form).url

    first = lab_of()
    assert lab_of() == first
    others = {lab_of(**{name: value}) for name, value in (("name", "naive"), ("size", "60"), ("repeats", "2"))}
    assert len(others - {first}) == 3
    Lab.objects.update(status=Lab.Status.CANCELLED)
    assert lab_of() not in {first, *others}
    assert Lab.objects.count() == 5


def test_the_command_says_before_the_run_which_ways_this_machine_cannot_run(mariadb, transactional_db, monkeypatch):
    target, lines = saved_target(mariadb, mariadb.database), []
    monkeypatch.setattr(private_server, "path_of", lambda _program: "")
    options = {"name": "partitions", "target": target.name, "size": "40", "repeats": 1, "seed": 1, "warm_up": False}
    options |= {"during_imports": True, "way": ["own server, 1 *, 1 pool*"], "server_program": "", "report": None}
    command.run(options, lines.append)
    assert lines[1] == (
        "Not measured, since they need a private server: own server, 1 partition, 8 sessions, 1 pool instance."
        " This machine has no mariadbd of MariaDB for a private server. Name its path with --server-program."
    )


def test_a_process_that_fails_ends_the_experiment(database, program, monkeypatch, no_workers):
    lab_of = ordered(saved_target(database, database.database), program)
    monkeypatch.setattr(in_worker, "ROOT", Path("/nowhere"))
    for _ in range(4):
        lab.take(lab_of.pk, lambda _steps: None)
    ended = Lab.objects.get()
    assert (ended.status, bool(ended.problem["what"])) == (Lab.Status.FAILED, True)


def test_a_sweep_removes_everything_of_an_experiment_whose_process_was_killed(mariadb, stack_env, transactional_db):
    target = saved_target(mariadb, mariadb.database)
    words = [str(PYTHON), "manage.py", "experiment", "run", "partitions", "--target", target.name, "--size", "20000"]
    with subprocess.Popen(words, cwd=ROOT, env=stack_env.env) as process:
        wait_until(lambda: Chunk.objects.filter(status=Chunk.Status.LOADING).exists(), what="a load")
        process.send_signal(signal.SIGKILL)

    def ended() -> bool:
        """Whether the lab has ended: after its lease expired, by this sweep or by the workers' own."""
        call_command("lab", "sweep", stdout=StringIO())
        return Lab.objects.get().ended

    wait_until(ended)
    require_nothing_left(mariadb)
    assert (Lab.objects.get().status, Lab.objects.get().problem["what"]) == (Lab.Status.FAILED, GONE.what)


def test_a_worker_renews_the_lease_until_the_process_has_started(
    database, program, tmp_path: Path, monkeypatch, no_workers
):
    """On a busy machine the start may take longer than a lease. Another worker would end the experiment then."""
    made = ordered(saved_target(database, database.database), program)
    Lab.objects.update(status=Lab.Status.PREPARING)
    claimed = claim(made.pk)
    slow, started = tmp_path / "python", tmp_path / "started"
    slow.write_text(f"#!/bin/sh\nuntil [ -e {started} ]; do sleep 0.1; done\nexit 1\n")
    slow.chmod(0o700)
    monkeypatch.setattr(sys, "executable", str(slow))
    with ThreadPoolExecutor() as pool:
        waits = pool.submit(in_worker.run, claimed)
        try:
            wait_until(lambda: Lab.objects.get().lease > claimed.lease, what="a renewed lease")
        finally:
            started.touch()
        with pytest.raises(Problem, match="The process of the experiment has failed"):
            waits.result()


def test_an_experiment_does_not_run_if_cancelled_or_if_another_lab_has_the_target(mariadb, transactional_db):
    request = runner.ExperimentRequest(EXPERIMENTS["naive"], 10)
    target = saved_target(mariadb, mariadb.database)
    begun = runner.begin(request, target)
    with pytest.raises(Problem, match="Another lab has the target"):
        runner.begin(request, target)
    lab.cancel(begun.pk)
    with pytest.raises(Cancelled):
        runner.run(begun)
    assert finish(begun).status == Lab.Status.CANCELLED
    assert lab.outcome(begun)["recommendation"] is None


@pytest.mark.parametrize("becomes", [Lab.Status.CANCELLED, Lab.Status.DONE])
def test_an_experiment_whose_process_was_killed_while_it_ended_ends_as_was_decided(becomes, mariadb, transactional_db):
    target = saved_target(mariadb, mariadb.database)
    ways = ("1 partition, 1 session",)
    begun = runner.begin(runner.ExperimentRequest(EXPERIMENTS["partitions"], 40, 1, warm_up=False, ways=ways), target)
    runner.run(begun)
    if becomes == Lab.Status.CANCELLED:
        lab.cancel(begun.pk)
    else:
        assert end(begun, becomes)
    Lab.objects.update(lease=None)
    end_abandoned(target)
    ended = Lab.objects.get()
    assert (ended.status, ended.problem) == (becomes, {})
    require_nothing_left(mariadb)


class PressedAtFirstTrial(StringIO):
    """A terminal on which Ctrl-C is pressed when the first trial begins."""

    def write(self, text: str) -> int:
        if "round 1" in text:
            raise KeyboardInterrupt
        return super().write(text)


def test_ctrl_c_cancels_an_experiment_and_ends_with_the_exit_code_of_that(mariadb, transactional_db):
    target = saved_target(mariadb, mariadb.database)
    words = ("experiment", "run", "partitions", "--target", target.name, "--size", "40", *TINY)
    with pytest.raises(CommandError, match="The experiment was cancelled") as ended:
        call_command(*words, stdout=StringIO(), stderr=PressedAtFirstTrial())
    assert (ended.value.returncode, Lab.objects.get().status) == (CANCELLED.exit_code, Lab.Status.CANCELLED)
    require_nothing_left(mariadb)


class ObstacleReported(Exception):
    """Ends a loop that would run until the server is reachable again."""


def test_finish_reports_what_it_waits_for(mariadb, transactional_db, closed_port):
    def tell(obstacle: str) -> None:
        raise ObstacleReported(obstacle)

    target = saved_target(mariadb, mariadb.database)
    begun = runner.begin(runner.ExperimentRequest(EXPERIMENTS["naive"], 10), target)
    Target.objects.filter(pk=target.pk).update(port=closed_port)
    with pytest.raises(ObstacleReported, match="No server answers there"):
        finish(begun, tell=tell)
    Target.objects.filter(pk=target.pk).update(port=mariadb.port)
    assert finish(begun).ended
    require_nothing_left(mariadb)


@pytest.mark.django_db
def test_a_pattern_that_fits_no_way_is_refused():
    with pytest.raises(Problem, match="partitions has no way 3 partitions"):
        EXPERIMENTS["partitions"].chosen(["1 partition*", "3 partitions*"])


@pytest.mark.django_db
def test_experiment_list_shows_rows_and_times():
    out = StringIO()
    call_command("experiment", "list", stdout=out)
    assert out.getvalue().count("    full: ") == len(EXPERIMENTS)
    assert "1,200,000 rows" in out.getvalue()
    assert out.getvalue().count(" for a warm-up and 3 rounds") == 2 * len(EXPERIMENTS)


@pytest.mark.parametrize(("given", "rounds"), [({}, 4), ({"warm_up": False, "repeats": 1}, 1)])
def test_the_estimate_has_the_rounds_that_run(given, rounds):
    request = runner.ExperimentRequest(EXPERIMENTS["partitions"], 1000, **given)
    assert request.seconds == EXPERIMENTS["partitions"].seconds(1000, rounds)


@pytest.mark.django_db
def test_ways_without_those_that_they_are_compared_with_are_refused_before_the_first_trial(mariadb):
    target = saved_target(mariadb, mariadb.database)
    with pytest.raises(AssertionError, match="naive has no way"):
        runner.begin(runner.ExperimentRequest(EXPERIMENTS["naive"], 10, ways=("LOAD DATA",)), target)
    assert not Lab.objects.exists()


@pytest.mark.django_db
@pytest.mark.parametrize("words", [["list"], ["run", "methods", "--target", "here", "--json"]])
def test_without_the_harness_experiment_says_where_to_run_it(words, monkeypatch):
    for name in [each for each in sys.modules if each.partition(".")[0] == "bench"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "bench", None)
    with pytest.raises(CommandError, match="In a clone of Millrace's source, run `make setup`"):
        call_command(
            type("Command", (Command,), {})(), *words, stdout=StringIO()
        )  # no parser that an earlier test made

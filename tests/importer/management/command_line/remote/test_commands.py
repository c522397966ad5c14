"""`millrace --server URL`: the words, documents and exit codes of the local command, by the API."""

import io
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from config.contracts.outcomes import REFUSED
from importer.access import tokens
from importer.management.terminal.output import NONE_TO_LIST
from importer.management.verbs import schedules
from importer.models import ImportJob, MappingPreset, ScheduleRun, Scope, SourceFile, Target
from tests.documents import read
from tests.importer.management.command_line.interrupts import press_ctrl_c_in_sleep
from tests.importer.management.command_line.remote.conftest import ROWS, Run, rows
from tests.importer.management.test_preset import preset as preset  # noqa: PLC0414 -- fixtures
from tests.importer.schedules.conftest import database as database  # noqa: PLC0414 -- fixtures
from tests.importer.schedules.conftest import folder as folder  # noqa: PLC0414
from tests.importer.schedules.conftest import make as make  # noqa: PLC0414
from tests.people import operator

BAD = b"id,name,amount\n1,ann,1\n2,bob,x\n3,eve,2\n"
TO = ("--to", "warehouse", "--table", "orders")


@pytest.fixture
def orders(tmp_path: Path) -> Path:
    path = tmp_path / "orders.csv"
    path.write_bytes(ROWS)
    return path


class TestLoad:
    def test_a_repeated_load_is_noted_and_refused_where_the_content_is_to_be_loaded_once(
        self, run: Run, target, orders, tmp_path
    ):
        again = tmp_path / "again.csv"
        again.write_bytes(ROWS)
        first = read(run("load", str(orders), *TO, "--json")[1])
        assert first["loaded_before"] is None
        said = f"Import {first['job']} has loaded this content already (2 rows, "
        for words in (("load", str(again), *TO, "--once"), ("plan", str(again), *TO, "--once")):
            code, out, _ = run(*words, "--json")
            refused = read(out)
            assert (code, refused["outcome"], refused["problem"]["code"]) == (4, "refused", 1103)
            assert (refused["problem"]["kind"], refused["loaded_before"]["by"]) == ("LoadedBefore", "ann")
            assert said in refused["problem"]["what"]
        report = read(run("plan", str(again), *TO, "--json")[1])
        assert (report["loaded_before"]["job"], report["loaded_before"]["rows"]) == (first["job"], 2)
        assert said in run("load", str(again), *TO, "--on-duplicate", "skip")[2]

    def test_prints_the_report_of_the_import(self, run: Run, target, orders):
        code, out, _ = run("load", str(orders), *TO, "--json")
        report = read(out)
        assert (code, report["outcome"], report["rows"]["loaded"]) == (0, "succeeded", 2)
        assert [row[1] for row in rows(target)] == ["ann", "bob"]
        job = str(report["job"])
        assert read(run("job", "show", job, "--json")[1]) == report
        assert read(run("job", "list", "--json")[1])["jobs"][0]["rows"] == 2
        assert f"{job}: succeeded, orders.csv into" in run("job", "list")[1]
        code, out, _ = run("job", "wait", job)
        assert (code, out.splitlines()[0]) == (0, f"Import {job} succeeded: {_equation(2, 2)}")
        assert run("job", "pause", job)[0] == REFUSED.exit_code

    def test_leaves_bad_rows_in_a_file(self, run: Run, target, orders, tmp_path):
        orders.write_bytes(BAD)
        options = ("--on-error", "reject", "--max-rejects", "none", "--map", "amount=amount:plain")
        code, out, _ = run("load", str(orders), *TO, *options)
        job = str(ImportJob.objects.get().pk)
        assert code == 5
        assert f"job rejects {job} --out FILE" in out
        kept = tmp_path / "rejects.csv"
        assert run("job", "rejects", job, "--out", str(kept))[0] == 0
        assert kept.read_bytes() == b"id,name,amount\n2,bob,x\n"
        assert run("job", "rejects", job, "--out", str(kept))[0] == REFUSED.exit_code
        assert run("job", "rejects", job, "--json")[0] == REFUSED.exit_code

    def test_names_the_retry_that_leaves_out_bad_rows(self, run: Run, target, orders, web):
        orders.write_bytes(BAD)
        code, _, said = run("load", str(orders), *TO, "--map", "amount=amount:plain")
        job = ImportJob.objects.get().pk
        retry = f"millrace --server {web.url} job retry {job} --on-error reject"
        assert (code, said.splitlines()[-1]) == (
            6,
            f"To leave out the bad rows, and keep them with their reasons: {retry}",
        )
        assert retry in run("job", "show", str(job))[1]
        assert run(*retry.split()[3:])[0] == 5
        assert [row[1] for row in rows(target)] == ["ann", "eve"]

    def test_ends_a_retry_with_the_code_of_a_server_that_is_down(self, run: Run, target, orders, closed_port):
        orders.write_bytes(BAD)
        assert run("load", str(orders), *TO, "--map", "amount=amount:plain")[0] == 6
        Target.objects.update(port=closed_port)
        code, out, _ = run("job", "retry", str(ImportJob.objects.get().pk), "--json")
        assert (code, read(out)["exit_code"]) == (7, 7)

    def test_asks_what_the_local_command_asks_and_leaves_nothing(self, run: Run, target, orders):
        orders.write_bytes(b"id,name,price\n1,ann,1.50\n")
        planned, started = run("plan", str(orders), *TO, "--json"), run("load", str(orders), *TO, "--json")
        assert (planned[0], started[0]) == (3, 3)
        assert read(planned[1])["reading"]["guesses"] == read(started[1])["reading"]["guesses"]
        assert planned[2] == started[2]
        assert "--ignore-fields" in planned[2]
        assert not SourceFile.objects.exists()
        assert run("load", str(orders), *TO, "--ignore-fields")[0] == 0

    def test_reads_several_files_and_standard_input_as_one(self, run: Run, target, orders, monkeypatch):
        more = orders.with_name("orders-2.csv")
        more.write_bytes(b"id,name,amount\n3,eve,\n")
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"id,name,amount\n4,dan,\n")))
        assert run("load", f"{orders.parent}/orders*.csv", "-", *TO)[0] == 0
        assert [row[1] for row in rows(target)] == ["ann", "bob", "eve", "dan"]

    def test_ends_with_its_own_code_where_a_person_has_to_approve(self, run: Run, target, orders, monkeypatch):
        Target.objects.update(needs_approval=True)
        code, out, _ = run("load", str(orders), *TO)
        assert code == 9
        assert "That person approves it on the import's page" in out
        assert rows(target) == []
        job = str(ImportJob.objects.get().pk)
        assert run("job", "wait", job, "--at-most", "0")[0] == 9
        digest = read(run("job", "plan", job, "--json")[1])["approval"]["digest"]
        code, out, _ = run("job", "approve", job, "--digest", digest, "--json")
        assert (code, rows(target)) == (4, [])
        assert "another person" in str(read(out)["problem"])
        assert read(run("job", "why", job, "--json")[1])["job"] == int(job)
        monkeypatch.setenv("MILLRACE_TOKEN", tokens.make(operator("bob"), "review", 1, Scope.values)[1])
        assert run("job", "approve", job, "--digest", digest)[0] == 0
        assert run("job", "wait", job)[0] == 0
        assert len(rows(target)) == 2
        assert run("job", "delete", job)[1] == f"Import {job} is deleted. What it loaded stays in its table.\n"

    def test_refuses_what_only_the_machine_of_millrace_can_do(self, run: Run, orders, target):
        code, out, _ = run("load", str(orders), "--json", "mysql://u@h/d.t")
        assert (code, read(out)["outcome"]) == (4, "refused")
        code, out, said = run("load", str(orders), *TO, "--json", "--socket", "/x")
        assert (code, read(out)["outcome"]) == (2, "wrong usage")
        assert "--socket cannot be used with --server" in said
        assert run("load", "/nowhere.csv", *TO, "--json")[0] == 4
        code, out, _ = run("load", "https://h.example/a.csv", *TO, "--json")
        assert (code, read(out)["problem"]["what"]) == (4, "Addresses are not allowed here.")


def _equation(source: int, loaded: int) -> str:
    words = "(rows in the file = loaded + replaced + unchanged + skipped + rejected)"
    return f"{source} = {loaded} + 0 + 0 + 0 + 0 {words}"


def test_targets_and_schedules_are_listed_as_by_the_local_command(run: Run, target):
    listed = read(run("target", "list", "--json")[1])["targets"]
    assert [(each["name"], each["ok"]) for each in listed] == [("warehouse", None)]
    code, out, _ = run("target", "check", "warehouse", "--json")
    assert (code, read(out)["ok"]) == (0, True)
    assert read(run("schedule", "list", "--json")[1])["schedules"] == []
    assert run("schedule", "list") == (0, "", f"{NONE_TO_LIST['schedule']}\n")
    code, out, _ = run("schedule", "show", "nightly", "--json")
    assert (code, read(out)["problem"]["what"]) == (REFUSED.exit_code, "There is no schedule named nightly.")


def test_a_schedule_is_shown_paused_and_run(run: Run, make):
    make(name="nightly")
    assert read(run("schedule", "list", "--json")[1])["schedules"][0]["name"] == "nightly"
    assert "nightly:" in run("schedule", "list")[1]
    shown = read(run("schedule", "pause", "nightly", "--json")[1])
    assert (shown["paused"], shown["upcoming"]) == (True, [])
    assert read(run("schedule", "resume", "nightly", "--json")[1])["paused"] is False
    begun = read(run("schedule", "run", "nightly", "--no-wait", "--json")[1])
    assert begun["cause"] == "by hand"
    assert begun["run"] in [each["run"] for each in read(run("schedule", "show", "nightly", "--json")[1])["runs"]]
    assert f"run {begun['run']}" in run("schedule", "show", "nightly")[1]


def test_ctrl_c_ends_the_waiting_and_not_the_run_of_a_schedule(run: Run, make, monkeypatch):
    make(name="nightly")
    press_ctrl_c_in_sleep(monkeypatch, schedules)
    code, printed, said = run("schedule", "run", "nightly", "--json")
    # Beat may begin a run of its own: the workers are not allowed the test's folder, and a failed search begins one.
    number = ScheduleRun.objects.get(cause=ScheduleRun.Cause.BY_HAND).pk
    assert (code, read(printed)["run"]) == (1, number)
    assert f"Run {number} continues. millrace --server" in said
    assert "schedule show nightly shows it." in said


class TestCheck:
    @pytest.mark.parametrize(
        ("data", "words", "code"),
        [
            (ROWS, (), 0),
            (BAD, (*TO, "--map", "amount=amount:plain"), 10),
            (BAD, ("--type", "amount=int"), 10),
            (b"id,name,price\n1,ann,1.50\n", TO, 3),
            (ROWS, ("--to", "warehouse", "--table", "order"), 4),
            (ROWS, ("--table", "orders"), 4),
        ],
    )
    def test_finds_what_the_local_command_finds(self, run: Run, target, orders, capsys, data, words, code):
        orders.write_bytes(data)
        line = (str(orders), *words)
        here = {}
        for form in ((), ("--json",)):
            with suppress(SystemExit, CommandError):
                call_command("import_csv", *line, "--check-only", *form)
            here[form] = capsys.readouterr().out
        there, document = run("check", *line), run("check", *line, "--json")
        assert (there[0], document[0], there[1]) == (code, code, here[()])
        assert _without_problem(read(document[1])) == _without_problem(read(here["--json",]))
        assert bool(read(document[1])["problem"]) == (code in (3, 4))
        assert "Traceback" not in there[2]
        assert not SourceFile.objects.filter(owned=True).exists()
        assert not ImportJob.objects.exists()


def _without_problem(document: dict[str, Any]) -> dict[str, Any]:
    """A document without the words of its problem, which name a path here and a file there."""
    return {name: value for name, value in document.items() if name != "problem"}


class TestHistory:
    def test_is_that_of_the_local_command(self, run: Run, target, orders, capsys):
        for _ in range(2):
            assert run("load", str(orders), *TO, "--mode", "upsert")[0] == 0
        for line in (
            ("--json", "--columns", "job", "table", "rows", "ended"),
            ("--columns", "all", "--sort", "job"),
            ("--table", "orders", "--where", "rows", ">", "1"),
            ("--csv", "--columns", "rows", "status", "--limit", "1", "--target", "warehouse"),
            ("--facts",),
        ):
            call_command("history", *line)
            here = capsys.readouterr().out
            code, there, _ = run("history", *line)
            same = read(there) == read(here) if "--json" in line else there == here
            assert (code, same) == (0, True), (line, here, there)
        assert run("history", "--table", "sales.orders", "--columns", "rows")[1] == "rows\n"
        code, _, said = run("history", "--columns", "row")
        assert (code, "Did you mean" in said) == (REFUSED.exit_code, True)


class TestPresets:
    def test_are_listed_shown_renamed_written_and_deleted(self, run: Run, preset, tmp_path, capsys):
        for line in (("list",), ("show", "monthly"), ("export", "monthly"), ("show", "monthly", "--json")):
            call_command("preset", *line)
            here = capsys.readouterr().out
            assert run("preset", *line)[:2] == (0, here), line
        (listed,) = read(run("preset", "list", "--json")[1])["presets"]
        assert (listed["name"], listed["used"]) == ("monthly", None)
        assert run("preset", "rename", "monthly", "yearly")[1] == "monthly is called yearly now.\n"
        written = tmp_path / "yearly.json"
        assert run("preset", "export", "yearly", "--out", str(written))[0] == 0
        assert read(written.read_text())["name"] == "yearly"
        assert run("preset", "delete", "yearly")[0] == 0
        assert not MappingPreset.objects.exists()
        code, out, _ = run("preset", "show", "yearly", "--json")
        assert (code, read(out)["problem"]["advice"]) == (REFUSED.exit_code, "Known: none yet.")

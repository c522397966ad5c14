"""Schedules, presets and labs by the API: what is decided about a schedule, and recipes made of a file."""

from dataclasses import replace

import pytest

from importer.models import ImportJob, Lab, MappingPreset, Schedule, ScheduleRun
from tests.dashboard.api.program import Program, problem
from tests.dashboard.api.test_imports import INTO, rows
from tests.dashboard.api.test_resources import incoming as incoming  # noqa: PLC0414 -- a fixture
from tests.dashboard.api.test_resources import loaded as loaded  # noqa: PLC0414 -- a fixture
from tests.importer.labs import to_end as lab_to_end
from tests.importer.schedules.steps import outcomes, to_end
from tests.people import admin

GUESSED = {"accept_guesses": True}
MORE = b"id,name,amount\n" + b"".join(b"%d,ann,1.50\n" % number for number in range(10, 400))


class TestSchedules:
    @pytest.fixture
    def path(self, program, loaded, incoming) -> str:
        """The address of a schedule at half past two."""
        new = {
            "job": loaded,
            "name": "orders",
            "connection": "incoming",
            "pattern": "orders-*.csv",
            "cron": "30 2 * * *",
        }
        made = program.send("POST", "schedules", {**new, "trigger": "cron", "zone": "Europe/Vienna"})
        assert made.status_code == 201, made.content
        return f"schedules/{made.json()['id']}"

    def test_a_new_header_is_compared_and_accepted(self, program, target, path, tmp_path):
        problem(program.send("GET", f"{path}/header"), 422)
        (tmp_path / "orders-2.csv").unlink()
        (tmp_path / "orders-1.csv").write_bytes(b"id,price,name\n7,2.50,eve\n")
        run = program.send("POST", f"{path}/run").json()["run"]
        assert to_end(ScheduleRun.objects.get(pk=run)).problem["kind"] == "Drifted"
        change = program.read(f"{path}/header")
        assert [(each["name"], each["before"]) for each in change["fields"]] == [
            ("id", "id"), ("price", None), ("name", "name"),
        ]  # fmt: skip
        assert (change["gone"], change["file"]) == ([{"field": "amount", "column": "amount"}], "orders-1.csv")
        problem(program.send("POST", f"{path}/header", {"columns": ["id"]}), 422)
        accepted = program.send("POST", f"{path}/header", {"columns": ["id", "amount", "name"]})
        assert accepted.status_code == 201, accepted.content
        again = ScheduleRun.objects.get(pk=accepted.json()[0]["run"])
        assert outcomes(to_end(again)) == {"orders-1.csv": "loaded"}
        assert [str(value) for value in rows(target)[-1]] == ["7", "eve", "2.50"]
        assert "No attempt to load" in problem(program.send("POST", f"{path}/forget", {"name": "x.csv"}), 422)["what"]

    def test_past_days_are_run(self, program, path):
        days, key = {"first": "2026-03-01", "last": "2026-03-02"}, {"Idempotency-Key": "7b1"}
        before = ScheduleRun.objects.count()
        begun, repeated = (program.send("POST", f"{path}/backfill", days, **key) for _ in range(2))
        assert (begun.status_code, len(begun.json())) == (201, 1)
        assert (repeated.content, ScheduleRun.objects.count()) == (begun.content, before + 1)
        told = problem(program.send("POST", f"{path}/backfill", {"first": "2026-03-02", "last": "2026-03-01"}), 422)
        assert told["advice"] == "Choose the earlier day first."

    def test_what_one_would_do_is_shown_before_it_is_made(self, program, incoming):
        wanted = {"connection": "incoming", "pattern": "orders-*.csv", "trigger": "cron", "cron": "30 2 * * *"}
        planned = program.send("POST", "schedules/plan", wanted)
        assert planned.status_code == 200, planned.content
        assert planned.json()["when"].startswith("At 02:30")
        assert (len(planned.json()["times"]), planned.json()["total"]) == (5, 2)
        assert [each["name"] for each in planned.json()["files"]] == ["orders-1.csv", "orders-2.csv"]
        problem(program.send("POST", "schedules/plan", {**wanted, "cron": "at night"}), 422)
        assert not Schedule.objects.exists()

    def test_admins_choose_who_is_notified(self, program, path):
        root = Program(admin("root"))
        problem(root.send("PUT", f"{path}/subscriptions", {"channel": "ops", "events": ["failed"]}), 422)
        root.send("POST", "channels", {"name": "ops", "kind": "mail", "addresses": "a@example.org", "events": ["late"]})
        (chosen,) = root.send("PUT", f"{path}/subscriptions", {"channel": "ops", "events": ["failed"]}).json()
        assert chosen == {"channel": "ops", "events": ["failed"], "of_all": ["late"]}
        assert root.send("PUT", f"{path}/subscriptions", {"channel": "ops", "events": []}).json()[0]["events"] == []
        problem(program.send("GET", f"{path}/subscriptions"), 403)

    def test_a_preset_gives_it_another_recipe(self, program, loaded, path):
        program.send("POST", f"imports/{loaded}/preset", {"name": "other"})
        MappingPreset.objects.update(options_json={"mode": "upsert", "on_error": "reject", "max_rejects": 3})
        assert program.send("PATCH", path, {"preset": "other"}).status_code == 200
        assert Schedule.objects.get().options.mode == "upsert"


def test_a_preset_is_made_of_a_file_and_changed(program, target):
    wanted = {"file": program.upload(MORE), **INTO}
    made = program.send("POST", "presets", {"name": "nightly", **wanted})
    assert made.status_code == 201, made.content
    path = f"presets/{made.json()['id']}"
    changed = program.send("PUT", path, {**wanted, "options": {"mode": "upsert"}})
    assert changed.json()["options"]["mode"] == "upsert", changed.content
    assert MappingPreset.objects.get().name == "nightly"
    told = problem(program.send("PUT", path, {**wanted, "columns": [{"field": "price", "column": "amount"}]}), 422)
    assert "has no field price" in told["what"]
    asked = {"file": program.upload(b"id,name,price\n1,ann,1.50\n"), **INTO}
    assert problem(program.send("POST", "presets", {"name": "other", **asked}), 422)["code"] == 1400


def test_a_file_that_differs_from_a_presets_own_is_asked_about(program, target):
    first = "id,name,amount\n1,Zoë,2\n".encode("cp1252")
    program.send("POST", "presets", {"name": "nightly", "file": program.upload(first, "a.csv"), **INTO, **GUESSED})
    wanted = {"file": program.upload("id,name,amount\n1,Zoë,2\nTotal,,2\n".encode(), "b.csv"), "preset": "nightly"}
    asked = program.send("POST", "plans", wanted).json()["reading"]["guesses"]
    assert [each["name"] for each in asked] == ["encoding", "skip_footer"]
    answers = {each["name"]: each["answers"][0]["label"] for each in asked}
    for given in ({"answers": answers}, GUESSED, {"format": {"encoding": "utf-8", "skip_footer": 1}}):
        planned = program.send("POST", "plans", {**wanted, **given})
        assert planned.status_code == 200, planned.content
        reading = planned.json()["reading"]
        assert reading["encoding"] == "utf-8"
    refused = problem(program.send("POST", "plans", {**wanted, "format": {"delimiter": ";"}}), 422)
    assert refused["where"] == "body.format.delimiter"


def test_an_import_is_to_be_like_another(program, target, loaded):
    """Its columns and options hold, but for what the request says; one that nobody may see is as none."""
    wanted = {"file": program.upload(b"id,name,amount\n9,eve,2\n"), "like": loaded}
    plan = program.send("POST", "plans", wanted).json()
    assert [(each["column"], each["standing"]) for each in plan["reading"]["columns"]] == [
        ("id", "stated"), ("name", "stated"), ("amount", "stated"),
    ]  # fmt: skip
    begun = program.send("POST", "imports", wanted | {"options": {"commit_rows": 7}})
    assert begun.status_code == 201, begun.content
    first, made = (ImportJob.objects.get(pk=number) for number in (loaded, begun.json()["job"]))
    assert (made.target, made.table, made.mapping) == (first.target, first.table, first.mapping)
    assert made.options == replace(first.options, commit_rows=7)
    assert "There is no import" in problem(program.send("POST", "plans", wanted | {"like": 10**6}), 422)["what"]
    alone = {"file": wanted["file"], "like": loaded}
    assert program.send("POST", "checks", alone).json()["rows"]["source"] == 1


def test_a_lab_of_a_file_is_planned_run_and_saved_as_a_preset(program, target):
    wanted = {"load": {"file": program.upload(MORE), **INTO}, "grid": "own", "settings": {"chunk_bytes": "1K,1M"}}
    wanted |= {"share": 50, "repeats": 1, "seed": 1}
    planned = program.send("POST", "labs/plan", wanted)
    assert planned.status_code == 200, planned.content
    assert (len(planned.json()["combinations"]), planned.json()["trials"] > 1) == (2, True)
    problem(program.send("POST", "labs/plan", {**wanted, "job": 1}), 422)
    assert "either first rows or a share" in problem(program.send("POST", "labs", {**wanted, "rows": 5}), 422)["what"]
    begun = program.send("POST", "labs", wanted)
    assert begun.status_code == 201, begun.content
    path = f"labs/{begun.json()['lab']}"
    problem(program.send("POST", f"{path}/preset", {"name": "fastest"}), 422)
    assert lab_to_end(Lab.objects.get()).status == "done"
    assert program.read(path)["recommendation"]
    saved = program.send("POST", f"{path}/preset", {"name": "fastest"})
    assert (saved.status_code, saved.json()["table"]) == (201, program.read(path)["table"])
    for act in ("clean-now", "end-without", "cancel"):
        problem(program.send("POST", f"{path}/{act}"), 422)
    assert rows(target) == []

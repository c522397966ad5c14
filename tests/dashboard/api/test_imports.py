"""Imports by the API: from an upload to a balanced report, with the questions and refusals on the way."""

import io
import json
import zipfile
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db.models import F

from dashboard.api.events import JobEvents
from importer.access import idempotency
from importer.models import AccessToken, AuditEvent, Grant, ImportJob, SourceFile
from tests.dashboard.api.conftest import make_target
from tests.dashboard.api.program import problem
from tests.engine.loads import rows_of
from tests.importer.steps import run

ROWS = b"id,name,amount\n1,ann,1.50\n2,bob,\n"
INTO = {"target": "warehouse", "table": "orders"}


@pytest.fixture
def prepared(program, target):
    """The body of a request for an import of an uploaded file."""
    return {"file": program.upload(ROWS), **INTO}


def rows(target):
    return rows_of(target.address, "SELECT id, name, amount FROM orders ORDER BY id")


def test_a_file_is_loaded_and_its_report_balances(database, no_workers, program, transactional_db):
    target = make_target(database)
    wanted = {"file": program.upload(ROWS), **INTO}
    planned = program.send("POST", "plans", wanted).json()
    assert planned.get("outcome") == "planned", planned
    assert "INSERT" in str(planned["plan"]["sql"]) or "LOAD DATA" in str(planned["plan"]["sql"])
    assert rows(target) == []
    begun = program.send("POST", "imports", wanted)
    assert begun.status_code == 201
    job = begun.json()["job"]
    assert begun["Location"] == f"/api/v1/imports/{job}"
    assert begun.json()["outcome"] is None
    run(ImportJob.objects.get())
    report = program.read(f"imports/{job}")
    assert (report["schema"], report["outcome"], report["balanced"]) == ("millrace.report/1", "succeeded", True)
    assert report["rows"]["loaded"] == 2
    assert [row[1] for row in rows(target)] == ["ann", "bob"]
    event = AuditEvent.objects.get(action="start_import")
    assert (event.actor_name, event.details["by_token"], event.object_id) == ("ann", "nightly", str(job))


@pytest.fixture
def months(program, target) -> dict[str, Any]:
    """A request about an archive with two files."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("2026/a.csv", ROWS)
        archive.writestr("2026/b.csv", b"id,name,amount\n3,eve,2\n")
    return {"file": program.upload(packed.getvalue(), "months.zip"), **INTO}


def test_all_files_of_an_archive_are_one_import(program, target, months):
    wanted = months
    asked = program.send("POST", "plans", wanted).json()
    assert [each["name"] for each in asked["reading"]["guesses"]] == ["member"]
    begun = program.send("POST", "imports", {**wanted, "all_members": True})
    assert begun.status_code == 201, begun.content
    job = begun.json()["job"]
    run(ImportJob.objects.get())
    report = program.read(f"imports/{job}")
    assert (report["outcome"], report["balanced"], report["rows"]["loaded"]) == ("succeeded", True, 3)
    assert [(each["name"], each["rows"]["taken"]) for each in report["files"]] == [("a.csv", 2), ("b.csv", 1)]
    assert [row[1] for row in rows(target)] == ["ann", "bob", "eve"]


def test_what_only_looks_at_an_archive_keeps_no_copies_of_its_files(program, months, settings):
    wanted = {**months, "all_members": True}
    for path, body, status in (
        ("plans", wanted, 200),
        ("plans", wanted | {"table": "no_such_table"}, 422),
        ("imports", wanted | {"columns": [{"field": "amount", "column": "no_such_column"}]}, 422),
        ("checks", wanted, 200),
        ("presets", wanted | {"name": "months"}, 201),
        ("presets", wanted | {"name": "others"}, 201),
        ("labs/plan", {"load": wanted, "grid": "own", "settings": {"unique_checks": "on,off"}}, 200),
    ):
        answer = program.send("POST", path, body)
        assert answer.status_code == status, answer.content
        assert SourceFile.objects.get().name == "months.zip", path
    settings.UPLOADS_PER_MINUTE = 2
    assert problem(program.send("POST", "plans", {**months, "all_members": True}), 429)["kind"] == "TooOften"
    assert SourceFile.objects.get().name == "months.zip"


def test_a_whole_file_is_checked(program, prepared):
    found = program.send("POST", "checks", prepared).json()
    assert (found["schema"], found["exit_code"], found["rows"]["source"]) == ("millrace.check/1", 0, 2)


class TestQuestions:
    @pytest.fixture
    def asked(self, program, target):
        """A file with a field that no column has the name of."""
        return {"file": program.upload(b"id,name,price\n1,ann,1.50\n"), **INTO}

    def test_are_in_the_plan_and_refuse_the_start(self, program, asked):
        planned = program.send("POST", "plans", asked)
        assert planned.status_code == 200
        assert planned.json()["outcome"] == "needs an answer"
        told = problem(program.send("POST", "imports", asked), 422)
        assert told["code"] == 1400
        assert told["reading"]["guesses"] == planned.json()["reading"]["guesses"]
        assert not ImportJob.objects.exists()

    def test_an_answer_by_its_label_goes_on(self, program, target, asked):
        guess = program.send("POST", "plans", asked).json()["reading"]["guesses"][0]
        assert guess["answers"][0]["label"] == "leave it out"
        answers = {f"{guess['name']}:{guess['field']}": "leave it out"}
        assert program.send("POST", "imports", {**asked, "answers": answers}).status_code == 201
        run(ImportJob.objects.get())
        assert [row[1:] for row in rows(target)] == [("ann", None)]

    def test_a_column_that_is_added_answers_them(self, program, target, asked):
        wanted = {**asked, "add_columns": {"price": "decimal(9,2)"}}
        planned = program.send("POST", "plans", wanted).json()
        assert planned["outcome"] == "planned"
        assert "ADD COLUMN `price` decimal(9,2) NULL" in str(planned["plan"]["sql"])
        assert program.send("POST", "imports", wanted).status_code == 201
        run(ImportJob.objects.get())
        assert rows_of(target.address, "SELECT CAST(price AS CHAR) FROM orders") == [("1.50",)]

    def test_another_label_is_refused_with_those_that_there_are(self, program, asked):
        guess = program.send("POST", "plans", asked).json()["reading"]["guesses"][0]
        key = f"{guess['name']}:{guess['field']}"
        told = problem(program.send("POST", "imports", {**asked, "answers": {key: "perhaps"}}), 422)
        assert told["where"] == f"body.answers.{key}"
        assert guess["answers"][0]["label"] in told["advice"]

    def test_columns_can_be_stated_instead(self, program, asked):
        columns = [{"field": "price", "column": "amount"}]
        assert program.send("POST", "plans", {**asked, "columns": columns}).json()["outcome"] == "planned"
        assert program.send("POST", "plans", {**asked, "ignore_fields": True}).json()["outcome"] == "planned"


class TestOptions:
    def test_of_the_registry_reach_the_plan(self, program, prepared):
        options = {"parallelism": 3, "chunk_bytes": 2**20, "on_error": "reject", "max_rejects": "none"}
        assert program.send("POST", "imports", {**prepared, "options": options}).status_code == 201
        made = ImportJob.objects.get().options
        assert (made.parallelism, made.chunk_bytes, made.most_rejects(10**6)) == (3, 2**20, None)

    @pytest.mark.parametrize(
        ("change", "where"),
        [
            ({"options": {"mode": "perhaps"}}, "body.options.mode"),
            ({"options": {"parallelism": 0}}, "body.options.parallelism"),
            ({"options": {"speed": 9}}, "body.options.speed"),
            ({"format": {"line_end": "^" * 65}}, "body.format.line_end"),
            ({"file": "x"}, "body.file"),
        ],
    )
    def test_a_wrong_value_is_named_with_its_place(self, program, prepared, change, where):
        told = problem(program.send("POST", "imports", {**prepared, **change}), 422)
        assert where in [each["where"] for each in told["errors"]]

    def test_an_unknown_target_is_answered_with_those_one_may_see(self, program, prepared):
        told = problem(program.send("POST", "imports", {**prepared, "target": "nowhere"}), 422)
        assert (told["what"], told["advice"]) == ("There is no target named nowhere.", "Known: warehouse.")


class TestActions:
    def test_cancel_and_retry(self, program, prepared):
        job = program.send("POST", "imports", prepared).json()["job"]
        assert program.send("POST", f"imports/{job}/cancel").json()["debug"]["status"] in ("cancelling", "cancelled")
        run(ImportJob.objects.get())
        assert program.read(f"imports/{job}")["outcome"] == "cancelled"
        told = problem(program.send("POST", f"imports/{job}/pause"), 422)
        assert "cannot be paused" in told["what"]
        assert program.send("POST", f"imports/{job}/retry", {"leave_out": True}).status_code == 200
        assert run(ImportJob.objects.get()).status == "succeeded"

    def test_a_file_is_imported_again_once_for_what_the_sender_knows(self, program, prepared):
        job = program.send("POST", "imports", {**prepared, "options": {"mode": "upsert"}}).json()["job"]
        run(ImportJob.objects.get())
        changed = {"options": {"parallelism": 3}}
        again = program.send("POST", f"imports/{job}/run-again", changed)
        assert again.status_code == 201, again.content
        assert ImportJob.objects.get(pk=again.json()["job"]).options.parallelism == 3
        told = problem(program.send("POST", f"imports/{job}/run-again", changed), 422)
        assert f"Import {again.json()['job']} of this file into" in told["what"]

    def test_an_ended_import_is_deleted(self, program, prepared):
        job = program.send("POST", "imports", prepared).json()["job"]
        run(ImportJob.objects.get())
        assert program.send("DELETE", f"imports/{job}").status_code == 204
        problem(program.send("GET", f"imports/{job}"), 404)


class TestKeys:
    def test_the_same_request_is_carried_out_once(self, program, prepared):
        key = {"Idempotency-Key": "7b1"}
        first, second = (program.send("POST", "imports", prepared, **key) for _ in range(2))
        assert (first.status_code, second.status_code) == (201, 201)
        assert first.content == second.content
        assert first["Location"] == second["Location"]
        assert second["Idempotency-Replayed"] == "true"
        assert ImportJob.objects.count() == 1
        assert AuditEvent.objects.filter(action="start_import").count() == 1

    def test_another_body_with_the_key_is_refused(self, program, prepared):
        key = {"Idempotency-Key": "7b1"}
        program.send("POST", "imports", prepared, **key)
        told = problem(program.send("POST", "imports", {**prepared, "table": "other"}, **key), 422)
        assert "was sent with another request" in told["what"]

    def test_a_request_whose_first_try_is_not_answered_may_be_sent_again(self, program, prepared):
        digest = idempotency.digest_of(b"POST", b"/api/v1/imports", json.dumps(prepared).encode())
        idempotency.begin(User.objects.get(username="ann"), "7b1", digest)
        told = problem(program.send("POST", "imports", prepared, **{"Idempotency-Key": "7b1"}), 409)
        assert (told["kind"], told["retryable"]) == ("NotAnsweredYet", True)

    def test_a_refused_request_can_be_corrected(self, program, prepared):
        key = {"Idempotency-Key": "7b1"}
        problem(program.send("POST", "imports", {**prepared, "table": "nothing"}, **key), 422)
        assert program.send("POST", "imports", prepared, **key).status_code == 201


class TestList:
    def loaded(self, program, prepared, number: int) -> list[int]:
        """The numbers of so many imports that have ended."""
        made = []
        for _ in range(number):
            made.append(program.send("POST", "imports", {**prepared, "options": {"mode": "upsert"}}).json()["job"])
            run(ImportJob.objects.get(pk=made[-1]))
        return made

    def test_pages_by_cursor_are_not_shifted_by_new_imports(self, program, prepared):
        made = self.loaded(program, prepared, 3)
        first = program.read("imports?limit=2")
        assert [each["job"] for each in first["items"]] == [made[2], made[1]]
        newer = program.send("POST", "imports", {**prepared, "options": {"mode": "upsert"}}).json()["job"]
        second = program.read(f"imports?limit=2&cursor={first['next']}")
        assert [each["job"] for each in second["items"]] == [made[0]]
        assert second["next"] is None
        assert [each["job"] for each in program.read("imports?status=waiting")["items"]] == []
        assert program.read("imports?last=2026-01-01")["items"] == []
        assert len(program.read("imports?first=2026-01-01")["items"]) > 1
        assert [each["job"] for each in program.read("imports?status=loading")["items"]] == [newer]
        for path in ("imports?cursor=x", f"history?cursor={first['next']}", f"approvals?cursor={first['next']}"):
            problem(program.send("GET", path), 422)
        problem(program.send("GET", "imports?status=perhaps"), 422)

    def test_pages_of_the_history_continue_after_the_last_row(self, program, prepared):
        made = self.loaded(program, prepared, 3)
        first = program.read("history?limit=2&columns=job")
        assert [each["job"] for each in first["items"]] == made[:0:-1]
        self.loaded(program, prepared, 1)
        second = program.read(f"history?limit=2&columns=job&cursor={first['next']}")
        assert ([each["job"] for each in second["items"]], second["next"]) == ([made[0]], None)

    def test_pages_of_chunks_continue_after_the_last_one(self, program, prepared):
        (job,) = self.loaded(program, prepared, 1)
        chunks = ImportJob.objects.get(pk=job).chunks
        only = chunks.get()
        for number in (2, 4):
            only.pk, only.number = None, number
            only.save()
        first = program.read(f"imports/{job}/chunks?limit=2")
        only.pk, only.number = None, 1
        only.save()
        second = program.read(f"imports/{job}/chunks?limit=2&cursor={first['next']}")
        assert [each["number"] for each in first["items"] + second["items"]] == [0, 2, 4]


def test_a_file_is_listed_and_deleted_until_it_is_imported(program, prepared):
    key = prepared["file"]
    assert [each["file"] for each in program.read("files")["items"]] == [key]
    program.send("POST", "imports", prepared)
    told = problem(program.send("DELETE", f"files/{key}"), 409)
    assert "would lose what they read" in told["what"]
    other = program.upload(b"a,b\n1,2\n")
    assert program.send("DELETE", f"files/{other}").status_code == 204
    assert SourceFile.objects.count() == 1


def test_values_are_replaced_as_a_column_says(program, target):
    content = b"id,name,amount\n1,ann,free\n2,bob,2\n"
    columns = [
        {"field": "name", "column": "name", "values": [["ann", "Anna"]]},
        {"field": "amount", "column": "amount", "values": [["free", "0"]]},
    ]
    wanted = {"file": program.upload(content), **INTO, "columns": columns}
    assert program.send("POST", "imports", wanted).status_code == 201
    run(ImportJob.objects.get())
    assert rows_of(target.address, "SELECT name, amount FROM orders ORDER BY id") == [("Anna", 0), ("bob", 2)]
    columns[0]["values"].append(["ann", "Anne"])
    assert "twice" in problem(program.send("POST", "imports", wanted), 422)["what"]


def test_rejected_rows_are_listed_by_pages_and_downloaded(program, target):
    content = b"id,name,amount\n1,ann,1\n2,bob,x\n3,eve,y\n"
    wanted = {"file": program.upload(content), **INTO, "options": {"on_error": "reject"}}
    wanted["columns"] = [{"field": "amount", "column": "amount", "transforms": []}]
    begun = program.send("POST", "imports", wanted)
    assert begun.status_code == 201, begun.content
    job = begun.json()["job"]
    run(ImportJob.objects.get())
    assert program.read(f"imports/{job}")["outcome"] == "completed with rejects"
    first = program.read(f"imports/{job}/rejects?limit=1")
    assert first["items"][0] | {"reason": ""} == {
        "chunk": 0, "place": 0, "file": "", "line": 3, "column": "amount", "value": "x", "reason": "",
        "record": "2,bob,x\n", "corrected": False, "loaded": False,
    }  # fmt: skip
    second = program.read(f"imports/{job}/rejects?cursor={first['next']}")
    assert ([each["line"] for each in second["items"]], second["next"]) == ([4], None)
    file = program.send("GET", f"imports/{job}/rejects.csv")
    assert b"".join(file.streaming_content) == b"id,name,amount\n2,bob,x\n3,eve,y\n"
    assert b"".join(program.send("GET", f"imports/{job}/reasons.csv").streaming_content).count(b"\n") == 3


class TestEvents:
    def test_without_the_front_there_is_one_and_the_listener_asks_again(self, program, prepared):
        job = program.send("POST", "imports", prepared).json()["job"]
        first = program.send("GET", f"imports/{job}/events")
        assert first["Content-Type"] == "text/event-stream"
        number, name, data = (line.partition(": ")[2] for line in first.content.decode().splitlines()[:3])
        assert (name, json.loads(data)["status"]) == ("progress", "loading")
        again = program.send("GET", f"imports/{job}/events", **{"Last-Event-ID": number})
        assert again.content == b""
        run(ImportJob.objects.get())
        last = program.send("GET", f"imports/{job}/events", **{"Last-Event-ID": number})
        number, name, data = (line.partition(": ")[2] for line in last.content.decode().splitlines()[:3])
        assert (name, json.loads(data)["outcome"]) == ("end", "succeeded")
        assert program.send("GET", f"imports/{job}/events", **{"Last-Event-ID": number}).status_code == 204

    def test_who_has_lost_the_right_or_the_token_gets_nothing_more(self, program, prepared):
        job = program.send("POST", "imports", prepared).json()["job"]
        token = AccessToken.objects.get()
        ImportJob.objects.update(created_by=None)
        events = JobEvents(job, token)
        assert b"event: progress" in events.news()
        Grant.objects.all().delete()
        ImportJob.objects.update(version=F("version") + 1)
        assert (events.news(), events.over) == (b"", True)
        token.delete()
        events = JobEvents(job, token)
        assert (events.news(), events.over) == (b"", True)

"""Rejected rows by the API: listed, corrected one by one, loaded once, and made a file of their own."""

import pytest

from importer.models import ImportJob
from tests.dashboard.api.program import Program, problem
from tests.dashboard.api.test_imports import INTO, rows
from tests.importer.steps import run
from tests.people import operator, viewer

BAD = b"id,name,amount\n1,ann,1.50\n2,bob,x\n3,cleo,y\n"


@pytest.fixture
def rejected(program, target, settings, tmp_path) -> str:
    """The address of an import that has rejected two of three rows."""
    settings.REJECTS_DIR = tmp_path / "rejects"
    wanted = {"file": program.upload(BAD), **INTO, "options": {"on_error": "reject"}}
    job = program.send("POST", "imports", wanted).json()["job"]
    assert run(ImportJob.objects.get()).rejected_rows == 2
    return f"imports/{job}"


def test_a_row_is_corrected_and_loaded_once(program, target, rejected):
    first, second = program.read(f"{rejected}/rejects")["items"]
    assert (first["line"], first["column"], first["value"], first["corrected"]) == (3, "amount", "x", False)
    path = f"{rejected}/rejects/{first['chunk']}/{first['place']}"
    shown = program.send("PATCH", path, {"values": {"AMOUNT": "2.5", "#2": "bert"}}).json()
    assert [(each["field"], each["text"], each["was"]) for each in shown["values"]] == [
        ("id", "2", None), ("name", "bert", "bob"), ("amount", "2.5", "x"),
    ]  # fmt: skip
    assert shown["corrected"] is True
    other = f"{rejected}/rejects/{second['chunk']}/{second['place']}"
    assert program.send("PATCH", other, {"values": {"amount": "9"}}).status_code == 200
    assert program.send("DELETE", other).status_code == 204
    assert program.read(other)["corrected"] is False
    told = problem(program.send("PATCH", path, {"values": {"price": "1"}}), 422)
    assert told["advice"] == "It has id, name, amount."
    begun = program.send("POST", f"{rejected}/rejects/load")
    assert begun.status_code == 201, begun.content
    loaded = run(ImportJob.objects.get(pk=begun.json()["job"]))
    assert (loaded.status, loaded.loaded_rows) == ("succeeded", 1)
    assert [str(value) for value in rows(target)[1]] == ["2", "bert", "2.50"]
    assert program.read(path)["loaded"] is True
    assert "already been loaded" in problem(program.send("PATCH", path, {"values": {"amount": "3"}}), 422)["what"]
    assert "No corrected row" in problem(program.send("POST", f"{rejected}/rejects/load"), 422)["what"]


def test_rows_are_listed_by_reason_and_only_for_who_may_load(program, rejected):
    (reason,) = program.read(rejected)["rejects"]["reasons"]
    asked = f"{rejected}/rejects?limit=1&column=amount&reason={reason['reason']}"
    page = program.read(asked)
    assert [each["value"] for each in page["items"]] == ["x"]
    assert [each["value"] for each in program.read(f"{asked}&cursor={page['next']}")["items"]] == ["y"]
    assert problem(program.send("GET", f"{rejected}/rejects?reason=none"), 422)["where"] == "query.reason"
    problem(program.send("GET", f"{rejected}/rejects/0/7"), 404)
    for each in (viewer("vic"),):
        problem(Program(each).send("GET", f"{rejected}/rejects"), 403)
    # Another person does not see the drafts.
    assert Program(operator("bob")).read(f"{rejected}/rejects/0/0")["corrected"] is False


def test_they_become_a_file_that_can_be_imported(program, rejected):
    made = program.send("POST", f"{rejected}/rejects/file")
    assert made.status_code == 201, made.content
    assert program.send("POST", f"{rejected}/rejects/file").json()["file"] == made.json()["file"]
    planned = program.send("POST", "plans", {"file": made.json()["file"], **INTO}).json()
    assert planned["outcome"] == "planned", planned["problem"]


def test_an_import_is_looked_at_in_detail(program, rejected):
    (chunk,) = program.read(f"{rejected}/chunks")["items"]
    assert (chunk["number"], chunk["rows"], chunk["rejected_rows"], chunk["status"]) == (0, 3, 2, "loaded")
    assert program.read(f"{rejected}/chunks?problems=true")["items"] == []
    seen = program.read(f"{rejected}/rows")
    assert (seen["columns"], seen["rows"], seen["rows_before"]) == (["id", "name", "amount"], [["1", "ann", "1.50"]], 0)
    assert program.read(f"{rejected}/causes")["causes"] == []

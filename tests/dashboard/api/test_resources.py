"""Targets, presets, schedules, connections, channels, labs, history and people by the API; and how it refuses."""

import json
import re
from dataclasses import fields

import openapi_spec_validator
import pytest
from jsonschema import Draft202012Validator

from dashboard.api.resources.schedules.schedules import ScheduleFields
from importer.access import people
from importer.connections.protocols import folder as folders
from importer.engine.errors import problem_codes
from importer.models import AccessToken, Channel, ImportJob, Lab, Level, MappingPreset, SourceConnection, Target
from importer.schedules import ScheduleRequest
from tests.dashboard.api.program import PART, Program, problem
from tests.dashboard.api.test_imports import INTO, ROWS
from tests.importer.steps import run
from tests.people import operator, stranger, viewer


@pytest.fixture
def loaded(program, target) -> int:
    """The number of an import that has succeeded."""
    job = program.send("POST", "imports", {"file": program.upload(ROWS), **INTO}).json()["job"]
    assert run(ImportJob.objects.get()).status == "succeeded"
    return int(job)


@pytest.fixture
def incoming(settings, tmp_path, monkeypatch) -> SourceConnection:
    """A connection with two files."""
    monkeypatch.setattr(folders, "SETTLED", 0.0)  # A file's last change cannot be set back.
    settings.IMPORT_FOLDERS = [str(tmp_path)]
    for number in (1, 2):
        (tmp_path / f"orders-{number}.csv").write_bytes(b"id,name,amount\n%d,ann,1.50\n" % number)
    return SourceConnection.objects.create(name="incoming", kind="folder", base=str(tmp_path))


class TestTargets:
    def test_one_is_added_checked_changed_and_deleted(self, root, mariadb):
        place = {"host": mariadb.host, "port": mariadb.port, "user": mariadb.user, "database": mariadb.database}
        made = root.send("POST", "targets", {"name": "shop", **place, "password": mariadb.password, "tls": "off"})
        assert made.status_code == 201, made.content
        assert made.json()["passed"] is True
        assert "password" not in made.json()
        path = f"targets/{made.json()['id']}"
        assert root.read(path)["name"] == "shop"
        assert root.send("PATCH", path, {"ceiling": 3}).json()["ceiling"] == 3
        assert Target.objects.get().ceiling == 3
        assert root.send("DELETE", path).status_code == 204
        problem(root.send("GET", path), 404)

    def test_what_the_page_refuses_is_refused_with_the_field(self, root, target):
        told = problem(root.send("PATCH", f"targets/{target.pk}", {"host": "https://db.example.org/"}), 422)
        assert [each["where"] for each in told["errors"]] == ["body.host"]
        told = problem(root.send("PATCH", f"targets/{target.pk}", {"tls_ca": "/etc/passwd"}), 422)
        assert "No certificate authorities" in told["what"]
        assert Target.objects.get().host == target.host

    def test_tables_and_columns_are_those_that_the_person_may_load_into(self, program, target):
        assert program.read(f"targets/{target.pk}/tables?search=ord") == ["orders"]
        shown = program.read(f"targets/{target.pk}/columns?table=orders")
        assert (shown["primary_key"], [each["name"] for each in shown["columns"]]) == (["id"], ["id", "name", "amount"])
        told = problem(program.send("GET", f"targets/{target.pk}/columns?table=order"), 422)
        assert "orders" in told["advice"]
        eve = stranger("eve")
        people.grant(eve, "target", Level.LOAD, target, ["other.*"])
        assert Program(eve).read(f"targets/{target.pk}/tables") == []

    def test_only_admins_add_them(self, program):
        told = problem(program.send("POST", "targets", {}), 403)
        assert told["what"] == "Only admins may add targets."


class TestPresets:
    def test_an_import_becomes_one_that_others_are_made_with(self, program, loaded):
        made = program.send("POST", f"imports/{loaded}/preset", {"name": "nightly"})
        assert made.status_code == 201, made.content
        wanted = {"file": program.upload(b"id,name,amount\n9,eve,2\n"), "preset": "nightly"}
        assert program.send("POST", "imports", wanted).status_code == 201
        told = problem(program.send("POST", "imports", {**wanted, "format": {"header": True}}), 422)
        assert told["where"] == "body.format.header"
        path = f"presets/{made.json()['id']}"
        assert program.send("PATCH", path, {"name": "daily"}).json()["name"] == "daily"
        assert program.send("DELETE", path).status_code == 204
        assert not MappingPreset.objects.exists()


class TestConnections:
    def test_files_are_listed_and_loaded_as_one_import(self, program, target, incoming):
        listed = program.read(f"connections/{incoming.pk}/files?pattern=orders-*.csv&limit=1")
        assert [each["name"] for each in listed["items"]] == ["orders-1.csv"]
        further = program.read(f"connections/{incoming.pk}/files?cursor={listed['next']}")
        assert [each["name"] for each in further["items"]] == ["orders-2.csv"]
        wanted = {"connection": "incoming", "paths": ["orders-*.csv"], **INTO}
        assert program.send("POST", "imports", wanted).status_code == 201
        ended = run(ImportJob.objects.get())
        assert (ended.status, ended.loaded_rows) == ("succeeded", 2)

    def test_a_request_names_files_of_one_kind(self, program, target, incoming):
        both = {"file": program.upload(ROWS), "connection": "incoming", "paths": ["x"], **INTO}
        unknown = {"connection": "nowhere", "paths": ["x"]}
        for wanted in (both, INTO, {"connection": "incoming", **INTO}, {**unknown, **INTO}):
            problem(program.send("POST", "plans", wanted), 422)


class TestSchedules:
    def test_one_is_made_of_an_import_paused_and_run(self, program, loaded, incoming):
        new = {"job": loaded, "name": "orders", "connection": "incoming", "pattern": "orders-*.csv"}
        made = program.send("POST", "schedules", {**new, "trigger": "cron", "cron": "30 2 * * *"})
        assert made.status_code == 201, made.content
        path = f"schedules/{made.json()['id']}"
        assert program.send("POST", f"{path}/pause").json()["paused"] is True
        told = problem(program.send("POST", f"{path}/pause"), 422)
        assert told["what"] == "The schedule is paused already."
        assert program.send("POST", f"{path}/resume").json()["paused"] is False
        begun = program.send("POST", f"{path}/run")
        assert begun.status_code == 201, begun.content
        run_id = begun.json()["run"]
        newest, of_import = program.read(f"{path}/runs")["items"]
        assert (newest["run"], of_import["outcome"]) == (run_id, "skipped")
        assert program.send("POST", f"runs/{run_id}/cancel").json()["status"] == "cancelled"
        assert program.read(f"runs/{run_id}")["outcome"] == "cancelled"
        changed = program.send("PATCH", path, {"pattern": "o-*.csv"})
        assert (changed.json()["pattern"], changed.json()["connection"]) == ("o-*.csv", "incoming")
        wrong = problem(program.send("PATCH", path, {"cron": "every night"}), 422)
        assert "every night" in wrong["detail"]
        assert program.send("DELETE", path).status_code == 204

    def test_every_setting_is_taken_shown_and_reset(self, program, loaded, incoming):
        new = {"job": loaded, "name": "orders", "connection": "incoming", "pattern": "*.csv", "trigger": "every"}
        limits = {"deadline_minutes": 30, "lateness_minutes": 20, "rejects_limit": 10}
        settings = {"most_attempts": 1, "every_minutes": 15, "overlap": "skip", "drift": "add", "afterwards": "delete"}
        made = program.send("POST", "schedules", new | settings | limits)
        assert made.status_code == 201, made.content
        path = f"schedules/{made.json()['id']}"
        shown = program.read(path)
        assert shown.items() >= (settings | limits).items()
        assert shown.keys() >= ScheduleFields.model_fields.keys()
        none = dict.fromkeys(limits)
        assert program.send("PATCH", path, {**none, "most_attempts": 2}).status_code == 200
        assert program.read(path).items() >= (settings | none | {"most_attempts": 2}).items()
        assert "required" in problem(program.send("PATCH", path, {"connection": None}), 422)["what"]

    def test_the_api_takes_every_field_of_a_schedule(self):
        assert ScheduleFields.model_fields.keys() == {each.name for each in fields(ScheduleRequest)}


class TestChannels:
    def test_one_is_made_changed_and_deleted_and_its_secret_never_shown(self, root):
        new = {"name": "ops", "kind": "webhook", "url": "https://192.0.2.1/x", "secret": "a secret of ours"}
        new["private_allowed"] = True
        made = root.send("POST", "channels", new)
        assert made.status_code == 201, made.content
        path = f"channels/{made.json()['id']}"
        assert root.send("PATCH", path, {"on": False, "events": ["failed"]}).json()["on"] is False
        assert Channel.objects.get().secret == "a secret of ours"
        assert "a secret" not in str(root.read(path)) + str(root.read("channels"))
        assert root.send("DELETE", path).status_code == 204
        problem(root.send("POST", "channels", {**new, "secret": "short"}), 422)


def test_a_lab_is_started_and_cancelled(program, loaded):
    same = program.send("POST", "labs", {"job": loaded, "grid": "own", "settings": {"chunk_bytes": "256K,1M"}})
    assert "give the same chunks" in problem(same, 422)["what"]
    begun = program.send("POST", "labs", {"job": loaded, "grid": "own", "settings": {"unique_checks": "on,off"}})
    assert begun.status_code == 201, begun.content
    lab = Lab.objects.get()
    assert program.read("labs")["items"][0]["lab"] == lab.pk
    assert program.send("POST", f"labs/{lab.pk}/cancel").json()["status"] in ("cancelled", "ending")


def test_the_history_has_the_facts_that_are_asked_for(program, loaded):
    asked = "columns=job&columns=table&columns=rows"
    found = program.read(f"history?{asked}&where=job = {loaded}")
    assert [(each["job"], each["rows"]) for each in found["items"]] == [(loaded, 2)]
    lines = b"".join(program.send("GET", f"history.csv?{asked}").streaming_content).splitlines()
    assert lines[0] == b"job,table,rows"
    assert problem(program.send("GET", "history?columns=nothing"), 422)
    assert problem(program.send("GET", "history?where=rows"), 422)["where"] == "query.where"
    assert "!=" in program.read("history/values?fact=mode")["operators"]
    assert "append" in program.read("history/values?fact=mode")["values"]
    program.send("POST", f"imports/{loaded}/run-again", {"options": {"mode": "upsert"}})
    again = run(ImportJob.objects.latest("pk")).pk
    compared = program.read(f"history/compare?jobs={loaded}&jobs={again}")
    assert compared["jobs"] == [loaded, again]
    assert [each["values"] for each in compared["settings"] if each["fact"] == "mode"] == [["append", "upsert"]]
    told = problem(program.send("GET", f"history/compare?jobs={loaded}&jobs=987654"), 422)
    assert told["what"] == "There is no import 987654."


class TestPeople:
    def test_an_admin_adds_grants_and_deactivates(self, root, target):
        made = root.send("POST", "people", {"name": "eve", "role": "operator"}).json()
        path = f"people/{made['id']}"
        granted = root.send("POST", f"{path}/grants", {"kind": "target", "thing": "warehouse", "level": "load"})
        assert granted.status_code == 201, granted.content
        assert root.read(path)["grants"][0]["on"] == "target warehouse"
        assert root.send("DELETE", f"grants/{granted.json()['id']}").status_code == 204
        assert root.send("PATCH", path, {"active": False}).json()["active"] is False
        me = root.read("account")
        assert (me["name"], me["role"], me["token"]["name"]) == ("root", "admin", "nightly")
        told = problem(root.send("PATCH", f"people/{AccessToken.objects.get().user_id}", {"role": "viewer"}), 422)
        assert "last admin" in told["what"]

    def test_a_token_is_revoked_and_ends(self, root):
        ann = operator("ann")
        theirs = Program(ann)
        token = root.read(f"people/{ann.pk}/tokens")["items"][0]["id"]
        assert root.send("DELETE", f"tokens/{token}").status_code == 204
        told = problem(theirs.send("GET", "account"), 401)
        assert "unknown, expired or revoked" in told["what"]

    @pytest.mark.parametrize("bearer", ["millrace_", "bad"])
    def test_a_bearer_that_is_no_token_is_not_called_none(self, db, client, bearer):
        told = problem(client.get("/api/v1/imports", headers={"Authorization": f"Bearer {bearer}"}), 401)
        assert "unknown, expired or revoked" in told["what"]


class TestRefusals:
    def test_each_error_is_a_problem(self, program):
        problem(program.send("GET", "nowhere"), 404)
        problem(program.send("PUT", "imports", {}), 405)
        assert "GET" in program.send("PUT", "imports", {})["Allow"]
        problem(program.generic("POST", "/api/v1/plans", "{", content_type="application/json"), 400)
        problem(program.generic("POST", "/api/v1/plans", "[NaN]", content_type="application/json"), 400)
        problem(program.generic("POST", "/api/v1/plans", "a=b", content_type="text/plain"), 415)
        problem(program.send("POST", "plans", []), 422)

    @pytest.mark.parametrize(
        ("method", "path", "advice"),
        [
            (
                "GET",
                "imports?limit=1&state=failed",
                "Known: cursor, first, key, last, limit, origin, owner, q, status, target.",
            ),
            ("GET", "history.csv?state=failed", "Known: columns, limit, sort, where."),
            ("GET", "account?state=failed", "Leave it out: this address takes none."),
            ("POST", "imports?state=failed", "Leave it out: this address takes none."),
        ],
    )
    def test_a_parameter_that_there_is_not_is_named_with_those_that_there_are(self, program, method, path, advice):
        told = problem(program.send(method, path), 422)
        assert (told["where"], told["advice"]) == ("query.state", advice)
        assert [each["where"] for each in told["errors"]] == ["query.state"]

    def test_a_viewer_starts_nothing(self, target):
        told = problem(Program(viewer("vic")).send("POST", "imports", {}), 403)
        assert told["advice"] == "Ask an admin to make you an operator."

    def test_what_is_done_too_often_waits(self, settings, program, target):
        settings.UPLOADS_PER_MINUTE = 1
        program.upload(ROWS)
        answer = program.send("POST", "uploads", **{"Tus-Resumable": "1.0.0", "Upload-Length": "4"})
        told = problem(answer, 429)
        assert told["retryable"] is True
        assert 0 < int(answer["Retry-After"]) <= 60

    def test_a_part_with_a_wrong_checksum_is_not_kept(self, program):
        tus = {"Tus-Resumable": "1.0.0"}
        begun = program.send("POST", "uploads", **tus, **{"Upload-Length": "4"})
        headers = {**tus, "Upload-Offset": "0", "Upload-Checksum": "sha256 AAAA"}
        part = program.patch(begun["Location"], b"a,b\n", content_type=PART, headers=headers)
        assert problem(part, 460)["what"].endswith("nothing of them is kept.")
        assert program.head(begun["Location"], headers=tus)["Upload-Offset"] == "0"


def check_example(schema, operation):
    """Each body has an example, which is as its schema says."""
    for content in operation.get("requestBody", {"content": {}})["content"].values():
        name = content["schema"].get("$ref", content["schema"].get("allOf", [{}])[0].get("$ref", "")).rpartition("/")[2]
        if not name:
            assert content["schema"]["format"] == "binary", operation
            continue
        examples = schema["components"]["schemas"][name]["examples"]
        whole = {"$ref": f"#/components/schemas/{name}", "components": schema["components"]}
        for example in examples:
            Draft202012Validator(whole).validate(example)


def objects_of(schema, part):
    """The schemas of objects with named values in a part of the description, and in what it refers to."""
    if isinstance(part, list):
        for each in part:
            yield from objects_of(schema, each)
    elif isinstance(part, dict):
        if "properties" in part:
            yield part
        if name := str(part.get("$ref", "")).rpartition("/")[2]:
            yield from objects_of(schema, schema["components"]["schemas"][name])
        for each in part.values():
            yield from objects_of(schema, each)


def test_no_body_takes_a_value_that_it_does_not_declare(client, db):
    schema = client.get("/api/v1/openapi.json").json()
    bodies = [each.get("requestBody") for methods in schema["paths"].values() for each in methods.values()]
    objects = list(objects_of(schema, bodies))
    assert len(objects) > 40
    assert [each for each in objects if each.get("additionalProperties") is not False] == []


# What a second request creates takes the place of the first, or goes by itself.
WITHOUT_KEY = {"save_filter", "grant_to_person", "grant_to_group", "begin_an_upload", "begin_an_upload_into_the_store"}


def test_what_creates_something_takes_a_key(client, db):
    paths = client.get("/api/v1/openapi.json").json()["paths"]
    creating = [each["post"] for each in paths.values() if "201" in each.get("post", {"responses": ()})["responses"]]
    keyless = {
        each["operationId"]
        for each in creating
        if not any(parameter["name"] == "Idempotency-Key" for parameter in each["parameters"])
    }
    assert len(creating) > 15
    assert keyless == WITHOUT_KEY


def test_the_description_is_complete(client, db):
    """Each operation has its own name, says its scope and how it refuses, and is on the page about the API."""
    schema = client.get("/api/v1/openapi.json").json()
    assert schema["openapi"].startswith("3.1")
    openapi_spec_validator.validate(schema)
    operations = [each for methods in schema["paths"].values() for each in methods.values()]
    assert len({each["operationId"] for each in operations}) == len(operations)
    assert all("A token needs the scope" in each["description"] for each in operations)
    assert all(each["responses"]["default"] for each in operations)
    for each in operations:
        check_example(schema, each)
    client.force_login(viewer("vic"))
    page = client.get("/api/docs/").content.decode()
    assert page.count('<details class="list-group-item api-operation"') == len(operations)
    assert all(f'<details id="schema-{name}">' in page for name in schema["components"]["schemas"])


def test_pages_of_lists_are_named_by_what_they_have(client):
    schema = client.get("/api/v1/openapi.json").json()
    known = schema["components"]["schemas"]
    lists = {name for name, each in known.items() if set(each.get("properties", ())) == {"items", "next"}}
    assert all(name.startswith("PageOf") for name in lists)
    assert {"PageOfImports", "PageOfPeople", "PageOfKeptTables", "PageOfLabs", "PageOfRuns"} <= lists
    assert "dict_str" not in json.dumps(schema)


def test_what_most_programs_need_stands_first(client, db):
    tags = [each["name"] for each in client.get("/api/v1/openapi.json").json()["tags"]]
    assert tags == ["imports", "files", "uploads", "targets", *sorted(tags[4:])]
    client.force_login(viewer("vic"))
    groups = re.findall(r'id="group-\d+">([^<]+)<', client.get("/api/docs/").content.decode())
    assert groups == [each.capitalize() for each in tags]
    page = client.get("/api/docs/").content.decode()
    assert re.findall(r"<code>(/api/v1/[^<]+)</code>", page)[0] == "/api/v1/imports"


def test_each_problem_has_its_code_its_status_and_a_sentence(client, db):
    client.force_login(viewer("vic"))
    page = client.get("/api/docs/").content.decode()
    row = r"<tr[^>]*><td>(\d+)</td><td>(\d+)</td><td><code>(\w+)</code></td><td>([^<]+)</td></tr>"
    found = {kind: (int(code), int(status), meaning) for code, status, kind, meaning in re.findall(row, page)}
    assert found["UnknownTable"] == (1200, 422, "There is no such table, or none that the account may see.")
    assert found["TargetUnreachable"][:2] == (1201, 424)
    assert found["TooOften"][:2] == (1000, 429)
    assert {kind: code for kind, (code, _, _) in found.items()} == {
        kind: code for kind, code in problem_codes().items() if kind in found
    }
    # What only commands say is not there.
    assert {"WrongUsage", "CannotStart"} & set(found) == set()
    assert {"Problem", "NotAsSeen", "QuotaExceeded", "NeedsAnswer", "ProofBroken"} <= set(found)
    assert [kind for kind, (_, _, meaning) in found.items() if not re.fullmatch(r"[A-Z].+ .+\.", meaning)] == []
    assert all(f'id="problem-{code}"' in page for code, _, _ in found.values())

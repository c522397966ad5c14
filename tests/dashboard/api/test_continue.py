"""Uploads that a program continues although it does not know their address."""

import base64
import hashlib
import io

import pytest
import xxhash
from django.utils import timezone

from importer.models import AuditEvent, ImportJob, SourceFile
from importer.sources import continuing, parts
from importer.sources.continuing import LEFT_AFTER
from importer.sources.uploads import finish
from tests.dashboard.api.program import PART, TUS, Program, problem
from tests.dashboard.job_data import make_job
from tests.people import admin, operator
from tests.stack import wait_until

pytestmark = pytest.mark.usefixtures("transactional_db")
DATA = b"id,name\n1,ann\n2,bob\n3,eve\n"
ARRIVED = 12


@pytest.fixture
def begun(program: Program, settings, tmp_path) -> SourceFile:
    """An upload whose sender is gone."""
    settings.UPLOAD_DIR = tmp_path / "uploads"
    metadata = "filename " + base64.b64encode(b"orders.csv").decode()
    headers = {**TUS, "Upload-Length": str(len(DATA)), "Upload-Metadata": metadata}
    send_part(program, program.send("POST", "uploads", **headers)["Location"], DATA[:ARRIVED], 0)
    SourceFile.objects.update(touched_at=timezone.now() - LEFT_AFTER)
    return SourceFile.objects.get()


def send_part(program: Program, address: str, part: bytes, offset: int) -> int:
    """The status of the answer to a part."""
    headers = {**TUS, "Upload-Offset": str(offset)}
    return program.patch(address, part, content_type=PART, headers=headers).status_code


def ask(program: Program, source: SourceFile, received: int = ARRIVED, data: bytes = DATA):
    known = {"received": received, "sha256": hashlib.sha256(data[:received]).hexdigest()}
    return program.send("POST", f"files/{source.key}/continue", known)


def test_an_upload_is_found_and_continued_by_its_new_key_alone(program, begun):
    (found,) = program.read(f"files?name=orders.csv&size={len(DATA)}&arriving=true")["items"]
    assert (found["file"], found["received"]) == (str(begun.key), ARRIVED)
    for other in ("name=other.csv", "size=7"):
        assert program.read(f"files?{other}&arriving=true")["items"] == []
    continued = ask(program, begun).json()
    assert (continued["received"], continued["file"] != found["file"]) == (ARRIVED, True)
    assert send_part(program, f"/api/v1/uploads/{found['file']}", DATA[ARRIVED:], ARRIVED) == 404
    assert send_part(program, f"/api/v1/uploads/{continued['file']}", DATA[ARRIVED:], ARRIVED) == 204
    begun.refresh_from_db()
    assert (begun.status, begun.file.read_bytes()) == (SourceFile.Status.READY, DATA)
    problem(ask(program, begun, len(DATA)), 409)


def test_one_of_which_other_bytes_have_arrived_is_left_alone(program, begun):
    problem(ask(program, begun, data=b"id,NAME\n1,ann\n"), 460)
    problem(ask(program, begun, received=ARRIVED - 1), 409)
    key = begun.key
    begun.refresh_from_db()
    assert begun.key == key


def test_one_whose_end_was_not_finished_is_finished_by_who_continues_it(program, begun):
    parts.append(begun, ARRIVED, io.BytesIO(DATA[ARRIVED:]), len(DATA) - ARRIVED)
    SourceFile.objects.update(touched_at=timezone.now() - LEFT_AFTER)
    continued = ask(program, begun, len(DATA)).json()
    assert program.head(f"/api/v1/uploads/{continued['file']}", headers=TUS)["Upload-Offset"] == str(len(DATA))
    begun.refresh_from_db()
    assert (begun.status, begun.file.read_bytes()) == (SourceFile.Status.READY, DATA)


def test_many_bytes_are_compared_after_the_answer(program, begun, monkeypatch):
    monkeypatch.setattr(continuing, "READ_AT_ONCE", ARRIVED - 1)
    recorded = AuditEvent.objects.count()
    answers = []

    def ask_once_more() -> bool:
        answers.append(ask(program, begun, data=b"id,NAME\n1,ann\n"))
        return answers[-1].status_code != 423

    with continuing._reading:  # The process reads another one.
        assert not ask_once_more()
    assert (problem(answers[0], 423)["kind"], answers[0]["Retry-After"]) == ("BeingCompared", "2")
    assert AuditEvent.objects.count() == recorded
    wait_until(ask_once_more, what="the comparison")
    problem(answers[-1], 460)
    assert ask(program, begun).status_code == 200
    assert [path.name for path in begun.file.parent.iterdir()] == [begun.file.name]


def test_one_that_somebody_sends_is_left_to_that_sender(program, begun):
    part = parts.open_part(begun, ARRIVED, 5)
    try:
        problem(ask(program, begun), 423)
    finally:
        part.close()
    SourceFile.objects.update(touched_at=timezone.now())
    assert problem(ask(program, begun), 423)["what"] == "A part of this upload has just arrived."


def test_one_of_another_person_is_not_there(begun):
    for other in (operator("eve"), admin("root")):
        program = Program(other)
        problem(ask(program, begun), 404)
        assert program.read("files?unused=true")["items"] == []


def test_complete_uploads_are_told_by_their_fingerprint_until_an_import_reads_them(program, begun):
    assert program.read("files?unused=true")["items"][0]["fingerprint"] == ""
    parts.append(begun, ARRIVED, io.BytesIO(DATA[ARRIVED:]), len(DATA) - ARRIVED)
    finish(begun)
    (found,) = program.read("files?unused=true")["items"]
    assert found["fingerprint"] == xxhash.xxh3_128(DATA).hexdigest()
    make_job(ImportJob.Status.SUCCEEDED, source=begun)
    assert program.read("files?unused=true")["items"] == []

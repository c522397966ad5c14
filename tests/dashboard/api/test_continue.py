"""Uploads that a program continues although it does not know their address."""

import base64
import hashlib
import io

import pytest
from django.utils import timezone

from importer.models import SourceFile
from importer.sources import parts
from importer.sources.continuing import LEFT_AFTER
from tests.dashboard.api.program import PART, TUS, Program, problem
from tests.people import admin, operator

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
        problem(ask(Program(other), begun), 404)

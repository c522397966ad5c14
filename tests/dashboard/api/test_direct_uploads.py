"""A program puts a file straight into a real store, and asks the API alone for everything else."""

import base64
import hashlib

import pytest
import requests

from importer.models import SourceFile
from tests.dashboard.api.program import Program, problem
from tests.people import operator

ROWS = b"id,name,amount\n1,one,1.50\n"
SHA256 = base64.b64encode(hashlib.sha256(ROWS).digest()).decode()

pytestmark = pytest.mark.django_db


def test_without_a_store_that_is_reached_it_is_not_offered(program: Program):
    told = problem(program.send("POST", "uploads/direct", {"name": "a.csv", "size": 9}), 409)
    assert "POST /api/v1/uploads" in told["advice"]


class TestReachedStore:
    @pytest.fixture(autouse=True)
    def reached(self, store, settings, tmp_path) -> None:
        settings.VAR_DIR, settings.UPLOAD_DIR = tmp_path / "var", tmp_path / "uploads"
        settings.FILE_STORE_BROWSER_URL = settings.FILE_STORE_ENDPOINT

    def test_a_file_goes_there_and_is_a_file_like_others(self, program: Program):
        begun = program.send("POST", "uploads/direct", {"name": "a.csv", "size": len(ROWS)})
        assert begun.status_code == 201
        at = f"uploads/direct/{begun.json()['file']}"
        assert problem(program.send("POST", at, {"sha256": [SHA256]}), 409)["what"].startswith("1 of 1 parts")
        signed = program.send("POST", f"{at}/parts", {"number": 1, "sha256": SHA256}).json()
        assert requests.put(signed["url"], data=ROWS, headers=signed["headers"], timeout=60).ok
        assert program.send("GET", at).json()["parts"] == [1]
        done = program.send("POST", at, {"sha256": [SHA256]})
        assert (done.status_code, done.json()["status"]) == (200, "ready")
        assert program.send("GET", f"files/{begun.json()['file']}").json()["received"] == len(ROWS)

    @pytest.mark.parametrize(
        ("body", "words"),
        [
            ({"name": "a.csv"}, "name and size"),
            ({"name": "a.csv", "size": "9"}, "`size` must be"),
            ({"name": 1, "size": 9}, "`name` must be"),
            ([], "JSON object"),
        ],
    )
    def test_another_body_is_refused_with_what_to_send(self, program: Program, body, words):
        assert words in problem(program.send("POST", "uploads/direct", body), 400)["what"]

    def test_a_part_that_the_file_does_not_have_and_a_wrong_checksum_are_refused(self, program: Program):
        at = f"uploads/direct/{program.send('POST', 'uploads/direct', {'name': 'a.csv', 'size': 9}).json()['file']}"
        told = problem(program.send("POST", f"{at}/parts", {"number": 2, "sha256": SHA256}), 422)
        assert told["what"] == "The file has no part 2."
        problem(program.send("POST", f"{at}/parts", {"number": 1, "sha256": "abc"}), 400)

    def test_nobody_else_continues_or_completes_it(self, program: Program):
        at = f"uploads/direct/{program.send('POST', 'uploads/direct', {'name': 'a.csv', 'size': 9}).json()['file']}"
        other = Program(operator("bob"))
        for method, address, body in (
            ("GET", at, None),
            ("POST", at, {"sha256": [SHA256]}),
            ("POST", f"{at}/parts", {"number": 1, "sha256": SHA256}),
        ):
            problem(other.send(method, address, body), 404)

    def test_it_counts_in_the_quota_from_its_beginning(self, program: Program, settings):
        settings.UPLOAD_QUOTA_BYTES = 10
        program.send("POST", "uploads/direct", {"name": "a.csv", "size": 9})
        problem(program.send("POST", "uploads/direct", {"name": "b.csv", "size": 9}), 413)
        assert SourceFile.objects.count() == 1

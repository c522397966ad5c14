"""The tus protocol as a browser speaks it, over Django's own request handling."""

import base64
import hashlib
import io

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from importer.models import SourceFile
from importer.sources import parts
from tests.people import admin, operator

pytestmark = pytest.mark.django_db

TUS = {"Tus-Resumable": "1.0.0"}
PART = "application/offset+octet-stream"


def begin(browser, size, name="flights.csv", **headers):
    metadata = "filename " + base64.b64encode(name.encode()).decode()
    headers = {**TUS, "Upload-Length": str(size), "Upload-Metadata": metadata, **headers}
    return browser.post(reverse("uploads"), content_type="", headers=headers)


def send(browser, url, offset, content, content_type=PART, **headers):
    return browser.patch(
        url, content, content_type=content_type, headers={**TUS, "Upload-Offset": str(offset), **headers}
    )


def checksum(algorithm, content):
    return f"{algorithm} {base64.b64encode(hashlib.new(algorithm, content).digest()).decode()}"


def head(browser, url):
    return browser.head(url, headers=TUS)


class TestWholeUpload:
    def test_begin_two_parts_and_ready(self, browser, user):
        begun = begin(browser, 8)
        assert begun.status_code == 201
        url = begun["Location"]
        # Clients that are generated from the API's description send the general type.
        assert send(browser, url, 0, b"a,b\n", "application/octet-stream")["Upload-Offset"] == "4"
        answer = head(browser, url)
        assert (answer["Upload-Offset"], answer["Upload-Length"]) == ("4", "8")
        assert answer["Cache-Control"] == "no-store"
        last = send(browser, url, 4, b"1,2\n")
        assert (last.status_code, last["Upload-Offset"]) == (204, "8")
        source = SourceFile.objects.get()
        assert source.status == SourceFile.Status.READY
        assert (source.name, source.uploaded_by) == ("flights.csv", user)
        assert source.file.read_bytes() == b"a,b\n1,2\n"

    def test_a_question_about_an_upload_finishes_what_a_dead_process_has_not(self, browser):
        url = begin(browser, 8)["Location"]
        parts.append(SourceFile.objects.get(), 0, io.BytesIO(b"a,b\n1,2\n"), 8)
        assert SourceFile.objects.get().arriving
        assert head(browser, url)["Upload-Offset"] == "8"
        assert SourceFile.objects.get().status == SourceFile.Status.READY

    def test_what_it_can_do(self, browser, settings):
        answer = browser.options(reverse("uploads"))
        assert answer["Tus-Version"] == "1.0.0"
        assert answer["Tus-Extension"] == "creation,termination,checksum,expiration"
        assert answer["Tus-Checksum-Algorithm"] == "sha1,sha256"
        assert answer["Tus-Max-Size"] == str(settings.UPLOAD_MAX_BYTES)

    def test_delete_removes_file_and_row(self, browser, upload_dir):
        url = begin(browser, 8)["Location"]
        assert browser.delete(url, headers=TUS).status_code == 204
        assert head(browser, url).status_code == 404
        assert list(upload_dir.iterdir()) == []

    def test_a_part_is_never_held_in_memory(self, browser, settings):
        settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 1000  # What request.body would refuse.
        url = begin(browser, 100_000)["Location"]
        assert send(browser, url, 0, b"x" * 100_000).status_code == 204


class TestChecksum:
    @pytest.mark.parametrize("algorithm", ["sha1", "sha256"])
    def test_a_part_with_its_checksum_counts(self, browser, algorithm):
        url = begin(browser, 4)["Location"]
        assert send(browser, url, 0, b"a,b\n", **{"Upload-Checksum": checksum(algorithm, b"a,b\n")}).status_code == 204

    def test_a_part_with_another_does_not(self, browser):
        url = begin(browser, 4)["Location"]
        answer = send(browser, url, 0, b"a,c\n", **{"Upload-Checksum": checksum("sha256", b"a,b\n")})
        assert answer.status_code == 460
        assert "Send this part again" in answer.content.decode()
        assert head(browser, url)["Upload-Offset"] == "0"

    @pytest.mark.parametrize("value", ["", "md5 AAAA", "sha256", "sha256 %%%", "sha256 AAA", "shake_128 AAAA"])
    def test_what_is_no_checksum_is_said(self, browser, value):
        url = begin(browser, 4)["Location"]
        answer = send(browser, url, 0, b"a,b\n", **{"Upload-Checksum": value})
        assert answer.status_code in (400, 460)
        assert head(browser, url)["Upload-Offset"] == "0"


class TestRefusals:
    def test_wrong_offset_changes_nothing(self, browser):
        url = begin(browser, 8)["Location"]
        send(browser, url, 0, b"a,b\n")
        assert send(browser, url, 0, b"a,b\n").status_code == 409
        assert head(browser, url)["Upload-Offset"] == "4"

    def test_too_large_a_file(self, browser, settings):
        settings.UPLOAD_MAX_BYTES = 100
        answer = begin(browser, 101)
        assert answer.status_code == 413
        assert "101 bytes; at most 100" in answer.content.decode()

    def test_too_large_a_part(self, browser, settings):
        settings.UPLOAD_PART_BYTES = 10
        url = begin(browser, 100)["Location"]
        assert send(browser, url, 0, b"x" * 11).status_code == 413
        assert head(browser, url)["Upload-Offset"] == "0"

    def test_more_than_announced(self, browser):
        url = begin(browser, 3)["Location"]
        assert send(browser, url, 0, b"xxxx").status_code == 413

    def test_an_empty_file_says_so(self, browser):
        answer = begin(browser, 0)
        assert answer.status_code == 422
        assert answer.content.decode().startswith("The file is empty.")

    @pytest.mark.parametrize("length", ["", "-1", "abc", "1.5", "٣", "9" * 40])
    def test_a_size_that_is_none(self, browser, length):
        assert begin(browser, 0, **{"Upload-Length": length}).status_code == 400

    def test_no_room_on_disk(self, browser, settings):
        settings.UPLOAD_MAX_BYTES, settings.UPLOAD_QUOTA_BYTES = 2**60, 0
        answer = begin(browser, 2**50)
        assert answer.status_code == 507
        assert "needed. Remove uploads" in answer.content.decode()

    def test_over_the_quota(self, browser, settings):
        settings.UPLOAD_QUOTA_FILES = 1
        assert begin(browser, 8).status_code == 201
        answer = begin(browser, 8)
        assert answer.status_code == 413
        assert "ann keeps 8 bytes in 1 file here" in answer.content.decode()

    def test_disk_full_in_the_middle_leaves_nothing(self, browser, upload_dir):
        url = begin(browser, 8)["Location"]
        source = SourceFile.objects.get()
        source.file.unlink()
        source.file.symlink_to("/dev/full")
        answer = send(browser, url, 0, b"a,b\n")
        assert answer.status_code == 507
        assert "disk for uploads is full" in answer.content.decode()
        assert head(browser, url).status_code == 404
        assert list(upload_dir.iterdir()) == []

    def test_a_file_of_another_kind_is_refused_with_its_first_part(self, browser, upload_dir):
        url = begin(browser, 10**6, "picture.csv")["Location"]
        answer = send(browser, url, 0, b"\x89PNG\r\n\x1a\n" + bytes(100))
        assert answer.status_code == 422
        assert answer.content.decode().startswith("This is not a CSV file: it is a PNG image. Export the table")
        assert head(browser, url).status_code == 404
        assert list(upload_dir.iterdir()) == []

    def test_another_type_of_body(self, browser):
        url = begin(browser, 8)["Location"]
        assert send(browser, url, 0, b"a", content_type="text/csv").status_code == 415

    def test_another_version_of_the_protocol(self, browser):
        answer = begin(browser, 8, **{"Tus-Resumable": "0.2.2"})
        assert answer.status_code == 412
        assert answer["Tus-Version"] == "1.0.0"

    def test_metadata_that_is_not_base64_is_only_a_missing_name(self, browser):
        answer = begin(browser, 8, **{"Upload-Metadata": "filename %%%"})
        assert answer.status_code == 201
        assert SourceFile.objects.get().name == "unnamed"


class TestWhoMay:
    @pytest.mark.parametrize("verb", ["head", "patch", "delete"])
    def test_somebody_else_finds_nothing(self, browser, verb):
        url = begin(browser, 8)["Location"]
        browser.force_login(operator("bob"))
        headers = {**TUS, "Upload-Offset": "0"}
        extra = {"content_type": PART} if verb == "patch" else {}
        assert getattr(browser, verb)(url, headers=headers, **extra).status_code == 404
        assert SourceFile.objects.get().received == 0

    def test_staff_may(self, browser):
        url = begin(browser, 8)["Location"]
        browser.force_login(admin("eve"))
        assert head(browser, url).status_code == 200

    def test_signed_out_gets_words_instead_of_the_sign_in_page(self, browser):
        url = begin(browser, 8)["Location"]
        browser.logout()
        answer = send(browser, url, 0, b"a,b\n")
        assert answer.status_code == 401
        assert "Sign in again" in answer.content.decode()
        assert begin(browser, 8).status_code == 401


class TestForgery:
    """Django's own check, on: its token comes in a header, and the body is not read for it."""

    @pytest.fixture
    def strict(self, user):
        client = Client(enforce_csrf_checks=True)
        client.force_login(user)
        client.cookies["csrftoken"] = "a" * 32
        return client

    def test_without_the_token_nothing_happens(self, strict):
        assert begin(strict, 8).status_code == 403
        assert not SourceFile.objects.exists()
        source = SourceFile.objects.create(name="a", path="/nowhere", size=8, uploaded_by=User.objects.get())
        url = reverse("upload", args=[source.key])
        assert send(strict, url, 0, b"a").status_code == 403
        assert strict.delete(url, headers=TUS).status_code == 403

    def test_with_the_token_in_the_header(self, strict):
        token = {"X-CSRFToken": "a" * 32}
        url = begin(strict, 4, **token)["Location"]
        assert send(strict, url, 0, b"a,b\n", **token).status_code == 204


def test_a_connection_that_breaks_in_a_part_keeps_what_came(browser):
    url = begin(browser, 8)["Location"]

    class Breaking(io.BytesIO):
        def read(self, size=-1, /):
            piece = super().read(size)
            if not piece:
                raise ConnectionResetError
            return piece

    answer = browser.generic(
        "PATCH",
        url,
        headers={**TUS, "Upload-Offset": "0"},
        **{"wsgi.input": Breaking(b"a,b"), "CONTENT_LENGTH": "8", "CONTENT_TYPE": PART},
    )
    assert answer["Upload-Offset"] == "3"
    assert head(browser, url)["Upload-Offset"] == "3"

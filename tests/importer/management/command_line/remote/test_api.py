"""The client of the API, with the real web server: uploads that resume, events, and problems as exceptions."""

import io
import os
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from datetime import timedelta
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, cast

import pytest
from django.db.models import F
from django.utils import timezone

from importer.access import limits, places, tokens
from importer.management.command_line.remote.there import There
from importer.models import AccessToken, AnsweredRequest, ImportJob, LimitCount, Scope, SourceFile, Target
from importer.sources import parts
from importer.sources.continuing import LEFT_AFTER, READ_AT_ONCE, BeingCompared
from importer.sources.uploads import begin_upload, finish, locked
from millrace_client import api, earlier_uploads, http, uploads
from millrace_client.api import Millrace
from millrace_client.earlier_uploads import EarlierUploads
from millrace_client.http import Server
from millrace_client.problems import NotLoaded, Problem, ServerProblem, ServerUnreachable, SourceChanged
from millrace_client.uploads import PART_TYPE, VERSION, Upload
from tests.dashboard.job_data import make_job
from tests.importer.management.command_line.remote.conftest import CREATE, INTO, ROWS, rows
from tests.people import admin
from tests.proxy import Loss, proxy
from tests.stack import wait_until
from tests.targets import target_with

MARK, LAST = b"MARK-IN-THE-MIDDLE", b"MARK-AT-THE-END"


@pytest.fixture
def orders(tmp_path: Path) -> Path:
    path = tmp_path / "orders.csv"
    path.write_bytes(ROWS)
    return path


def test_a_file_is_loaded_and_followed_by_events_to_its_report(database, millrace, orders):
    target = target_with(database, CREATE)
    wanted = {"file": millrace.upload(orders), **INTO}
    assert millrace.plan(wanted)["outcome"] == "planned"
    begun = millrace.start(wanted)
    heard = list(millrace.events(begun["job"]))
    assert heard[-1][0] == "end"
    assert {name for name, _ in heard[:-1]} <= {"progress"}
    report = heard[-1][1]
    assert (report["outcome"], report["balanced"], report["rows"]["loaded"]) == ("succeeded", True, 2)
    assert millrace.wait(begun["job"]) == report
    assert rows(target) == [(1, "ann", "1.50"), (2, "bob", None)]


def test_a_key_tells_which_import_it_has_started_and_a_lossy_one_is_a_problem(target, millrace, orders):
    orders.write_bytes(ROWS + b"3,eve,x\n")
    assert millrace.started("nightly") is None
    wanted = {"file": millrace.upload(str(orders)), **INTO, "options": {"on_error": "reject"}}
    job = millrace.start(wanted, "nightly")["job"]
    assert millrace.started("nightly")["job"] == job
    with pytest.raises(NotLoaded, match=f"Import {job}: completed with rejects. 1 row was rejected") as lossy:
        millrace.result(job)
    assert lossy.value.report["rows"]["loaded"] == 2


def test_an_import_whose_answer_is_lost_is_started_once(web, token, target, orders):
    with proxy("127.0.0.1", web.port) as line:
        millrace = Millrace(f"http://127.0.0.1:{line.port}", token)
        wanted = {"file": millrace.upload(orders), **INTO}
        line.loss = Loss((b"POST /api/v1/imports",), arrives=True, once=True)
        begun = millrace.start(wanted)
        assert line.loss is None
    assert [each.pk for each in ImportJob.objects.all()] == [begun["job"]]


def test_a_request_that_is_not_answered_yet_is_waited_for_from_then_on(web, silent, orders, monkeypatch):
    # An admin, who is told of a closed port at once.
    millrace = There(web.url, tokens.make(admin("root"), "nightly", 30, Scope.values)[1])
    wanted = {"file": millrace.upload(orders), **INTO}
    for module in (api, http):
        monkeypatch.setattr(module, "SILENT_SECONDS", 1.0)

    def end_planning(_waits: int) -> None:
        silent.accept()[0].close()
        silent.close()
        wait_until(lambda: not AnsweredRequest.objects.exists(), what="the end of the first try")

    act_in_waits(monkeypatch, api, end_planning)
    with pytest.raises(ServerProblem) as refused:
        millrace.start(wanted)
    assert refused.value.kind == "TargetUnreachable"


def test_a_check_may_take_longer_than_other_answers(millrace, silent, orders, monkeypatch):
    wanted = {"file": millrace.upload(orders), **INTO}
    monkeypatch.setattr(http, "SILENT_SECONDS", 0.5)
    with ThreadPoolExecutor(1) as pool:
        check = pool.submit(millrace.call, "check", wanted)
        connection, _ = silent.accept()
        with pytest.raises(ServerUnreachable):
            millrace.plan(wanted)  # It began later, and is given up.
        waits = not check.done()
        silent.close()
        connection.close()
        with pytest.raises(ServerProblem):
            check.result()
    assert waits


def act_in_waits(monkeypatch: pytest.MonkeyPatch, module: ModuleType, act: Callable[[int], object]) -> list[float]:
    """The seconds of each wait of this module, which calls `act` instead with the number of waits so far."""
    waits: list[float] = []

    def sleep(seconds: float) -> None:
        waits.append(seconds)
        act(len(waits))

    monkeypatch.setattr(module, "time", SimpleNamespace(sleep=sleep, monotonic=time.monotonic))
    return waits


class TestUploads:
    @pytest.fixture
    def large(self, tmp_path: Path, monkeypatch) -> Path:
        """A file of several parts."""
        monkeypatch.setattr(uploads, "PART_BYTES", 4096)
        path = tmp_path / "large.csv"
        path.write_bytes(b"a,b\n" * 1500 + MARK + b"a,b\n" * 1500 + LAST)
        return path

    @pytest.fixture
    def whole(self, ann, orders) -> SourceFile:
        """An upload whose bytes have all arrived, and that nobody has finished."""
        source = begin_upload(orders.name, len(ROWS), ann)
        parts.append(source, 0, io.BytesIO(ROWS), len(ROWS))
        SourceFile.objects.update(touched_at=timezone.now() - LEFT_AFTER)
        return SourceFile.objects.get()

    def test_continue_after_a_connection_that_broke(self, web, token, large):
        with proxy("127.0.0.1", web.port) as line:
            line.loss = Loss((MARK,), arrives=False, once=True)
            arrived: list[int] = []
            key = Millrace(f"http://127.0.0.1:{line.port}", token).upload(large, arrived.append)
            assert line.loss is None
        assert arrived == sorted(set(arrived))
        assert arrived[0] == 4096
        assert SourceFile.objects.get(key=key).file.read_bytes() == large.read_bytes()

    def test_a_part_with_another_checksum_is_refused_and_sent_again(self, web, token, large, monkeypatch):
        right, tried = uploads._checksum, []

        def wrong_once(part: bytes):
            tried.append(len(part))
            return right(part + b"x") if len(tried) == 2 else right(part)

        monkeypatch.setattr(uploads, "_checksum", wrong_once)
        key = Millrace(web.url, token).upload(large)
        assert tried == [4096, 4096, 4096, large.stat().st_size - 8192]
        assert SourceFile.objects.get(key=key).file.read_bytes() == large.read_bytes()

    def test_nothing_is_left_of_a_part_with_another_checksum(self, web, token):
        server = Server(web.url, token)
        upload = Upload.begin(server, "a.csv", len(ROWS))
        headers = {**VERSION, "Content-Type": PART_TYPE, "Upload-Offset": "0", **uploads._checksum(b"other")}
        with pytest.raises(ServerProblem) as refused:
            server.send("PATCH", f"/api/v1/uploads/{upload.key}", ROWS, headers)
        assert refused.value.status == 460
        assert upload.arrived() == 0

    def test_wait_while_the_server_finishes_them(self, web, token, whole, orders, monkeypatch):
        monkeypatch.setattr(http, "TRIES", 1)
        arrived: list[int] = []
        with ExitStack() as finishing, orders.open("rb") as file:
            finishing.enter_context(locked(whole))
            act_in_waits(monkeypatch, uploads, lambda waits: waits > uploads.TRIES and finishing.close())
            Upload(Server(web.url, token), str(whole.key)).send(file, arrived.append)
        whole.refresh_from_db()
        assert (arrived, whole.status) == ([len(ROWS)], SourceFile.Status.READY)

    def test_that_nobody_has_finished_are_finished_and_used(self, millrace, whole, orders):
        assert millrace.upload(orders) == str(whole.key)
        whole.refresh_from_db()
        assert whole.status == SourceFile.Status.READY

    def test_that_another_request_finishes_are_waited_for_and_used(self, millrace, whole, orders, monkeypatch):
        monkeypatch.setattr(http, "TRIES", 1)
        with ExitStack() as finishing:
            finishing.enter_context(locked(whole))
            act_in_waits(monkeypatch, uploads, lambda waits: waits > uploads.TRIES and finishing.close())
            assert millrace.upload(orders) == str(whole.key)
        assert SourceFile.objects.count() == 1

    def test_of_which_more_arrives_than_was_listed_are_used(self, millrace, whole, orders):
        earlier = EarlierUploads(millrace._server, millrace.call, io.BytesIO(ROWS))
        listed = {**millrace.call("show_file", file=whole.key), "received": len(ROWS) - 1}
        found = earlier.of(listed)
        assert found
        assert (found.key, found.shared) == (str(whole.key), True)

    def test_of_which_much_has_arrived_are_continued_after_a_comparison(self, millrace, whole, orders, monkeypatch):
        size = READ_AT_ONCE + 2
        os.truncate(whole.path, size - 1)
        os.truncate(orders, size)
        SourceFile.objects.update(size=size, received=size - 1)
        waits = act_in_waits(monkeypatch, earlier_uploads, lambda _: None)
        key = millrace.upload(orders)
        assert set(waits) == {BeingCompared.seconds}
        only = SourceFile.objects.get()
        assert (str(only.key), only.pk, only.status) == (key, whole.pk, SourceFile.Status.READY)
        assert key != str(whole.key)

    @pytest.mark.parametrize("why", ["other content", "an import"])
    def test_that_are_of_no_use_are_left_alone(self, millrace, whole, orders, why):
        finish(whole)
        if why == "an import":
            make_job(ImportJob.Status.SUCCEEDED, source=whole)
        else:
            orders.write_bytes(ROWS.replace(b"ann", b"eve"))
        assert SourceFile.objects.get(key=millrace.upload(orders)).pk > whole.pk

    def test_whose_last_answer_is_lost_are_complete(self, web, token, large, monkeypatch):
        right, sent = uploads._checksum, []

        def counted(part: bytes):
            sent.append(len(part))
            return right(part)

        monkeypatch.setattr(uploads, "_checksum", counted)
        with proxy("127.0.0.1", web.port) as line:
            line.loss = Loss((LAST,), arrives=True, once=True)
            key = Millrace(f"http://127.0.0.1:{line.port}", token).upload(large)
            assert line.loss is None
        assert sent == [4096, 4096, large.stat().st_size - 8192]
        assert SourceFile.objects.get(key=key).status == SourceFile.Status.READY

    def test_stay_where_the_rest_may_follow_later(self, web, token, large, monkeypatch):
        monkeypatch.setattr(http, "TRIES", 1)
        monkeypatch.setattr(uploads, "BUSY_SECONDS", 0.0)
        with ExitStack() as busy:

            def hold(_arrived: int) -> None:
                busy.enter_context(locked(SourceFile.objects.get()))

            with pytest.raises(ServerProblem) as refused:
                Millrace(web.url, token).upload(large, hold)
        assert refused.value.status == 423
        assert SourceFile.objects.get().received == 4096

    def test_wait_for_a_place_among_the_parts_of_the_person(self, millrace, ann, orders, settings, monkeypatch):
        with ExitStack() as others:
            for _ in range(settings.UPLOAD_PARTS_AT_ONCE):
                others.enter_context(cast(Any, places.take(limits.PARTS, ann)))
            waits = act_in_waits(monkeypatch, uploads, lambda waits: waits > uploads.TRIES and others.close())
            key = millrace.upload(orders)
        assert set(waits) == {limits.PARTS.seconds}
        assert SourceFile.objects.get(key=key).file.read_bytes() == ROWS

    def test_wait_where_the_person_has_begun_as_many_as_allowed(self, millrace, ann, orders, monkeypatch):
        now, key = timezone.now(), f"{limits.UPLOADS.setting} {ann.pk}"
        LimitCount.objects.create(key=key, uses=10**6, began=now, kept_until=now + timedelta(minutes=1))
        waits = act_in_waits(monkeypatch, uploads, lambda _: LimitCount.objects.all().delete())
        assert millrace.upload(orders)
        assert len(waits) == 1
        assert 1 < waits[0] <= 60

    def test_of_a_token_that_has_ended_say_where_a_token_is_given(self, web, token, whole):
        AccessToken.objects.update(expires_at=timezone.now())
        with pytest.raises(ServerProblem) as refused:
            Upload(Server(web.url, token), str(whole.key)).arrived()  # HEAD, whose answer has no words.
        assert refused.value.status == 401
        assert "MILLRACE_TOKEN" in refused.value.advice

    def test_of_a_file_that_changes_are_removed(self, web, token, large):
        def change(_arrived: int) -> None:
            large.write_bytes(b"another")

        with pytest.raises(SourceChanged):
            Millrace(web.url, token).upload(large, change)
        assert not SourceFile.objects.exists()


class TestEvents:
    @pytest.fixture
    def waiting(self, millrace, target, orders) -> int:
        """An import that stays under way: it waits for approval."""
        Target.objects.update(needs_approval=True)
        return millrace.start({"file": millrace.upload(orders), **INTO})["job"]

    def test_continue_after_a_broken_connection_until_the_token_ends(self, web, token, waiting):
        with proxy("127.0.0.1", web.port) as line:
            heard = Millrace(f"http://127.0.0.1:{line.port}", token).events(waiting)
            name, first = next(heard)
            assert (name, first["status"]) == ("progress", "unapproved")
            line.cut()
            ImportJob.objects.update(version=F("version") + 1, scanned_rows=7)
            assert next(heard)[1]["rows_of_file"] == 7
            AccessToken.objects.update(expires_at=timezone.now())
            ImportJob.objects.update(version=F("version") + 1)
            with pytest.raises(ServerProblem) as refused:
                next(heard)
        assert refused.value.status == 401

    def test_of_an_import_that_waits_for_a_person_are_not_waited_for(self, millrace, waiting):
        assert millrace.wait(waiting)["outcome"] == "waits for approval"


class TestProblems:
    def test_of_the_server_have_what_and_advice_and_the_report(self, millrace, target, orders):
        wanted = {"file": millrace.upload(orders), **INTO, "table": "order"}
        with pytest.raises(ServerProblem) as refused:
            millrace.start(wanted)
        problem = refused.value
        assert (problem.status, problem.details["code"], problem.details["kind"]) == (422, 1200, "UnknownTable")
        assert "orders" in problem.advice
        assert problem.report
        assert (problem.report["outcome"], problem.report["exit_code"]) == ("refused", 4)

    def test_of_an_expired_token_say_where_a_token_is_given(self, millrace):
        AccessToken.objects.update(expires_at=timezone.now())
        with pytest.raises(ServerProblem) as refused:
            millrace.call("list_targets")
        assert refused.value.status == 401
        assert "MILLRACE_TOKEN" in refused.value.advice

    def test_of_an_unknown_operation_name_the_version_of_the_server(self, millrace):
        with pytest.raises(Problem, match="The server has no operation fly: it is Millrace"):
            millrace.call("fly")

    def test_of_a_server_that_does_not_answer_name_its_address(self, monkeypatch):
        monkeypatch.setattr(http, "TRIES", 1)
        with pytest.raises(ServerUnreachable, match="Connection refused") as refused:
            Millrace("http://127.0.0.1:1", "millrace_x").call("list_targets")
        assert refused.value.where == "http://127.0.0.1:1"

    @pytest.mark.parametrize(
        "address",
        [
            *("ftp://x", "millrace.example.org", "https://"),
            *("https://[x", "https://millrace:99999", "https://millrace:port"),
        ],
    )
    def test_of_an_address_that_is_none(self, address):
        with pytest.raises(Problem, match="no address of a server"):
            Millrace(address, "millrace_x")

    @pytest.mark.parametrize(
        "address", ["https://ann:canary@millrace", "https://:canary@[x", "https://canary@millrace:port"]
    )
    def test_of_an_address_with_a_password_do_not_repeat_it(self, address):
        with pytest.raises(Problem, match="no user and no password") as refused:
            Millrace(address, "millrace_x")
        assert "canary" not in str(refused.value)

    def test_of_a_file_without_certificates_name_it(self, orders):
        with pytest.raises(Problem, match=r"orders\.csv: No certificates can be read"):
            Millrace("https://millrace.example.org", "millrace_x", ca_file=str(orders))

    def test_of_another_server_that_answers_say_so(self, tmp_path):
        page = tmp_path / "api" / "v1" / "openapi.json"
        page.parent.mkdir(parents=True)
        page.write_text("<html>")
        handler = partial(SimpleHTTPRequestHandler, directory=str(tmp_path))
        with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            with pytest.raises(ServerUnreachable, match="answers 200, and not as Millrace does"):
                Millrace(f"http://127.0.0.1:{server.server_port}", "millrace_x").call("list_targets")
            server.shutdown()

    def test_a_token_travels_readable_only_if_that_is_allowed(self):
        with pytest.raises(Problem, match="could read the token"):
            Millrace("http://millrace.example.org", "millrace_x")
        assert Millrace("http://millrace.example.org/api/v1/", "x", plain_http=True).address == (
            "http://millrace.example.org"
        )


def test_lists_are_read_page_by_page(millrace, target):
    copies = [Target.objects.get(pk=target.pk) for _ in range(2)]
    for number, each in enumerate(copies):
        each.pk, each.name, each.key = None, f"copy{number}", None
        each.key = type(target)._meta.get_field("key").default()
        each.save()
    assert [each["name"] for each in millrace.pages("list_targets", limit=2)] == ["copy1", "copy0", "warehouse"]

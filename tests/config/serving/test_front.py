"""The front by itself, with clients that send and read as a test wants, and small WSGI applications."""

import asyncio
import selectors
import threading
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from contextlib import nullcontext
from typing import Any

import pytest
from django.http import HttpResponse

from config.serving.client import Client, Pace, TooSlow
from config.serving.front import STREAMS, Front, Limits
from config.serving.intake import ANNOUNCED_TYPES, INTAKE, Ended
from config.serving.wsgi_call import PIECE_BYTES, WHOLE_BYTES

THREADS = 2
PATIENT = Pace(rate=1000, grace=600)
QUICK = Pace(rate=1000, grace=0.05)


def scope(method: str = "GET", path: bytes = b"/", headers: list[tuple[bytes, bytes]] | None = None) -> dict[str, Any]:
    return {
        "type": "http",
        "http_version": "1.1",
        "scheme": "http",
        "method": method,
        "raw_path": path,
        "query_string": b"a=%20b",
        "headers": headers or [],
        "server": ("::1", 80),
        "client": ("192.0.2.7", 4711),
    }


class FakeClient:
    """A client: the pieces of its body, after which it stays silent, and what it has got."""

    def __init__(self, *pieces: bytes, ends: bool = True, reads: bool = True) -> None:
        self._pieces, self._ends, self._reads = list(pieces), ends, reads
        self.got: list[dict[str, Any]] = []
        self.asked = 0

    async def receive(self) -> dict[str, Any]:
        self.asked += 1
        if not self._pieces:
            await asyncio.Event().wait()
        piece = self._pieces.pop(0)
        return {"type": "http.request", "body": piece, "more_body": bool(self._pieces) or not self._ends}

    async def send(self, message: dict[str, Any]) -> None:
        self.got.append(message)
        if not self._reads:
            await asyncio.Event().wait()

    @property
    def status(self) -> int:
        status: int = self.got[0]["status"]
        return status

    @property
    def body(self) -> bytes:
        return b"".join(each["body"] for each in self.got[1:])


def front(application: Callable[..., Any], pace: Pace = PATIENT) -> Front:
    return Front(
        application,
        Limits(THREADS, pace, 1000, announced_bytes=10_000, session_cookie="sid", errands=2, errand_bytes=2**26),
    )


async def ask(served: Front, request: dict[str, Any], client: FakeClient) -> FakeClient:
    await served(request, client.receive, client.send)
    return client


def answered(served: Front, request: dict[str, Any], client: FakeClient | None = None) -> FakeClient:
    return asyncio.run(ask(served, request, client or FakeClient()))


def in_time(test: Callable[[], Awaitable[None]]) -> None:
    """Run it, and fail instead of waiting for ever."""
    asyncio.run(asyncio.wait_for(test(), 60))


class Clock(selectors.SelectSelector):
    """A selector for an event loop; `now` is the loop's time, which passes only while it waits, and at once."""

    now = 0.0

    def select(self, timeout: float | None = None) -> list[Any]:
        ready = super().select(0)
        if not ready:
            self.now += timeout or 0
        return ready


def without_waiting(test: Coroutine[Any, Any, bytes]) -> bytes:
    """Run it in a loop whose time is a Clock's."""
    clock = Clock()
    loop = asyncio.SelectorEventLoop(clock)
    loop.time = lambda: clock.now
    with asyncio.Runner(loop_factory=lambda: loop) as runner:
        return runner.run(test)


def echo(environ: dict[str, Any], start: Callable[..., Any]) -> list[bytes]:
    """Shows an environ."""
    body = environ["wsgi.input"].read()
    shown = {name: value for name, value in environ.items() if isinstance(value, str)}
    text = repr((shown, body)).encode()
    start("200 OK", [("Content-Length", str(len(text)))])
    return [text]


def shown(client: FakeClient) -> tuple[dict[str, str], bytes]:
    environ, body = eval(client.body)
    return environ, body


class TestEnviron:
    def test_address_path_and_query(self):
        environ, _ = shown(answered(front(echo), scope(path=b"/a%20b/%C3%BC")))
        assert environ["REMOTE_ADDR"] == "192.0.2.7"
        assert environ["PATH_INFO"].encode("latin-1").decode() == "/a b/ü"
        assert environ["QUERY_STRING"] == "a=%20b"

    def test_a_header_with_an_underscore_cannot_pass_for_one_of_a_proxy(self):
        headers = [(b"x_forwarded_for", b"10.0.0.1"), (b"x-forwarded-for", b"192.0.2.9")]
        environ, _ = shown(answered(front(echo), scope(headers=headers)))
        assert environ["HTTP_X_FORWARDED_FOR"] == "192.0.2.9"

    def test_repeated_headers_are_joined(self):
        headers = [(b"cookie", b"a=1"), (b"cookie", b"b=2"), (b"accept", b"x"), (b"accept", b"y")]
        environ, _ = shown(answered(front(echo), scope(headers=headers)))
        assert (environ["HTTP_COOKIE"], environ["HTTP_ACCEPT"]) == ("a=1; b=2", "x,y")

    @pytest.mark.parametrize("header", [(b"content-length", b"6"), (b"transfer-encoding", b"chunked")])
    def test_the_body_is_whole_and_its_length_is_known(self, header):
        environ, body = shown(answered(front(echo), scope("POST", headers=[header]), FakeClient(b"abc", b"def")))
        assert (body, environ["CONTENT_LENGTH"]) == (b"abcdef", "6")


class TestForms:
    def test_a_form_of_unknown_length_is_refused_as_soon_as_it_is_too_long(self):
        client = FakeClient(*[b"x" * 400] * 5)
        answered(front(echo), scope("POST", headers=[(b"transfer-encoding", b"chunked")]), client)
        assert client.status == 413

    def test_a_slow_form_ends(self):
        client = FakeClient(b"x", ends=False)
        answered(front(echo, QUICK), scope("POST", headers=[(b"content-length", b"900")]), client)
        assert client.status == 408

    @pytest.mark.parametrize(("each", "whole"), [(50, True), (49, False)])
    def test_bytes_that_come_quickly_enough_may_take_longer_than_the_grace(self, each: int, whole: bool):
        class Steady(FakeClient):
            async def receive(self) -> dict[str, Any]:
                await asyncio.sleep(4)
                return await super().receive()

        steady = Steady(*[b"x" * each] * 5)
        client = Client(steady.receive, steady.send, Pace(rate=10, grace=10))
        with pytest.raises(TooSlow) if not whole else nullcontext():
            assert len(without_waiting(client.body(1000))) == 5 * each


class TestAnswers:
    def test_a_long_answer_goes_out_while_it_is_made(self):
        client = FakeClient()

        def pieces() -> Iterator[bytes]:
            yield b"x" * PIECE_BYTES
            yield b"y"
            assert len(client.body) == PIECE_BYTES, "the first piece waits for the last"
            yield b"z"

        def application(environ: dict[str, Any], start: Callable[..., Any]) -> Iterator[bytes]:
            start("200 OK", [])
            return pieces()

        answered(front(application), scope(), client)
        assert client.body == b"x" * PIECE_BYTES + b"yz"
        assert [each.get("more_body") for each in client.got[1:]] == [True, False]

    @pytest.mark.parametrize("length", [0, 1, PIECE_BYTES, WHOLE_BYTES, WHOLE_BYTES + 1])
    def test_an_answer_of_any_length_is_whole(self, length):
        def application(environ: dict[str, Any], start: Callable[..., Any]) -> list[bytes]:
            start("200 OK", [("Content-Length", str(length))])
            return [b"x" * length]

        client = answered(front(application), scope())
        assert client.body == b"x" * length
        assert [each["more_body"] for each in client.got[1:]].count(False) == 1

    @pytest.mark.parametrize("length", [WHOLE_BYTES, 3 * WHOLE_BYTES])
    def test_who_does_not_read_holds_up_nobody(self, length):
        def application(environ: dict[str, Any], start: Callable[..., Any]) -> list[bytes]:
            size = length if environ["PATH_INFO"] == "/long" else 2
            start("200 OK", [("Content-Length", str(size))])
            return [b"x" * size]

        async def test() -> None:
            served = front(application)
            silent = [
                asyncio.create_task(ask(served, scope(path=b"/long"), FakeClient(reads=False)))
                for _ in range(5 * THREADS)
            ]
            assert (await ask(served, scope(), FakeClient())).body == b"xx"
            assert not any(each.done() for each in silent)
            for each in silent:
                each.cancel()

        in_time(test)

    def test_while_all_streams_are_taken_answers_without_a_stream_go_on(self):
        def application(environ: dict[str, Any], start: Callable[..., Any]) -> Any:
            kind = environ["PATH_INFO"]
            start("304 Not Modified" if kind == "/unchanged" else "200 OK", [])
            return HttpResponse("page") if kind == "/page" else iter([b"x" * WHOLE_BYTES])

        async def test() -> None:
            served = front(application)
            silent = [asyncio.create_task(ask(served, scope(), FakeClient(reads=False))) for _ in range(2 * STREAMS)]
            assert (await ask(served, scope(path=b"/unchanged"), FakeClient())).status == 304
            assert (await ask(served, scope(path=b"/page"), FakeClient())).body == b"page"
            assert not any(each.done() for each in silent)
            for each in silent:
                each.cancel()

        in_time(test)

    def test_an_application_that_fails_in_its_answer_is_closed_and_the_answer_stays_open(self):
        closed = threading.Event()

        class Failing:
            def __iter__(self) -> Iterator[bytes]:
                yield b"x"
                raise RuntimeError("no more")

            def close(self) -> None:
                closed.set()

        def application(environ: dict[str, Any], start: Callable[..., Any]) -> Failing:
            start("200 OK", [])
            return Failing()

        client = FakeClient()
        with pytest.raises(RuntimeError, match="no more"):
            answered(front(application), scope(), client)
        assert closed.is_set()
        assert all(each.get("more_body", True) for each in client.got)


class Sink:
    """Keeps what is written, up to `most` bytes."""

    def __init__(self, most: int) -> None:
        self.content, self.closed, self._most = b"", 0, most

    def write(self, piece: bytes) -> bool:
        if len(self.content) + len(piece) > self._most:
            return False
        self.content += piece
        return True

    def close(self) -> None:
        self.closed += 1


class Receiving:
    """An application that lets a body into a sink, or refuses it."""

    def __init__(self, sink: Sink | None) -> None:
        self.sink, self.calls = sink, 0
        self.ended: Ended | None = None

    def __call__(self, environ: dict[str, Any], start: Callable[..., Any]) -> list[bytes]:
        self.calls += 1
        intake = environ[INTAKE]
        self.ended, intake.sink = intake.ended, self.sink
        start("204 No Content" if self.sink else "401 Unauthorized", [("Content-Length", "0")])
        return []


def announced(length: int) -> dict[str, Any]:
    headers = [(b"content-type", ANNOUNCED_TYPES[0].encode()), (b"content-length", str(length).encode())]
    return scope("PATCH", headers=headers)


class TestAnnouncedBodies:
    def test_a_body_is_in_the_sink_before_the_second_call(self):
        application = Receiving(Sink(1000))
        client = answered(front(application), announced(6), FakeClient(b"abc", b"def"))
        assert (client.status, application.calls, application.ended) == (204, 2, Ended.WHOLE)
        assert application.sink
        assert (application.sink.content, application.sink.closed) == (b"abcdef", 1)

    def test_a_slow_body_keeps_what_has_arrived(self):
        application = Receiving(Sink(1000))
        answered(front(application, QUICK), announced(6), FakeClient(b"abc", ends=False))
        assert application.sink
        assert (application.ended, application.sink.content, application.sink.closed) == (Ended.SLOW, b"abc", 1)

    def test_a_sink_that_wants_no_more_ends_the_body(self):
        application = Receiving(Sink(2))
        answered(front(application), announced(6), FakeClient(b"abc", b"def"))
        assert application.sink
        assert (application.ended, application.sink.closed) == (Ended.UNWANTED, 1)

    def test_a_refusal_is_sent_before_the_body_is_asked_for(self):
        application, client = Receiving(None), FakeClient(b"abc", ends=False)
        asked: list[int] = []

        async def send(message: dict[str, Any]) -> None:
            asked.append(client.asked)
            await FakeClient.send(client, message)

        asyncio.run(front(application, QUICK)(announced(6), client.receive, send))
        assert (client.status, application.calls, asked) == (401, 1, [0, 0])

    def test_stalled_bodies_take_no_thread(self):
        async def test() -> None:
            stalled = Receiving(Sink(1000))

            def application(environ: dict[str, Any], start: Callable[..., Any]) -> list[bytes]:
                return stalled(environ, start) if INTAKE in environ else echo(environ, start)

            served = front(application)
            clients = [FakeClient(b"a", ends=False) for _ in range(5 * THREADS)]
            tasks = [asyncio.create_task(ask(served, announced(6), client)) for client in clients]
            while not all(client.asked == 2 for client in clients):
                await asyncio.sleep(0)
            assert (await ask(served, scope(), FakeClient())).status == 200
            assert not any(each.done() for each in tasks)
            for each in tasks:
                each.cancel()

        in_time(test)

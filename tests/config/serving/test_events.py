"""Server-sent events: a listener waits for hours without a thread, and gets all that there is to tell."""

import asyncio
from collections.abc import Callable
from typing import Any

from config.serving import front as fronts
from config.serving.events import FEED, HEARTBEAT, TYPE, Feed, event
from tests.config.serving.test_front import THREADS, FakeClient, answered, ask, echo, front, in_time, scope

LISTEN = scope(headers=[(b"accept", TYPE.encode())])


class Source:
    """Tells these pieces one after the other, b"" for no news; is over after the last one, or never."""

    def __init__(self, *pieces: bytes, ends: bool = True) -> None:
        self._pieces, self._ends, self.looks, self.let_go_of = list(pieces), ends, 0, 0

    def let_go(self) -> None:
        """Count a listener who is gone."""
        self.let_go_of += 1

    def news(self) -> bytes:
        self.looks += 1
        return self._pieces.pop(0) if self._pieces else b""

    @property
    def over(self) -> bool:
        return self._ends and not self._pieces


def telling(source: Source | None) -> Callable[..., Any]:
    """An application that lets its listeners hear this source; None refuses."""

    def application(environ: dict[str, Any], start: Callable[..., Any]) -> list[bytes]:
        if FEED not in environ:
            return echo(environ, start)
        feed: Feed = environ[FEED]
        feed.events, feed.seconds = source, 0
        if source:
            feed.held.callback(source.let_go)
        start("200 OK" if source else "403 Forbidden", [("Content-Type", TYPE), ("Content-Length", "0")])
        return [b""]

    return application


def test_each_event_is_sent_and_the_answer_ends_with_the_last():
    heard = answered(front(telling(Source(event("progress", "1", 1), b"", event("end", "2", 2)))), LISTEN)
    assert heard.status == 200
    assert b"content-length" not in dict(heard.got[0]["headers"])
    assert heard.body == b"id: 1\nevent: progress\ndata: 1\n\nid: 2\nevent: end\ndata: 2\n\n"
    assert [each["more_body"] for each in heard.got[1:]] == [True, False]


def test_a_refusal_is_an_answer_like_others():
    heard = answered(front(telling(None)), LISTEN)
    assert (heard.status, heard.body) == (403, b"")


def test_without_news_a_comment_keeps_the_connection(monkeypatch):
    monkeypatch.setattr(fronts, "HEARTBEAT_SECONDS", 0)
    assert answered(front(telling(Source(b"", b"", b"x"))), LISTEN).body == HEARTBEAT * 2 + b"x"


def test_listeners_take_no_thread_and_one_that_is_gone_is_forgotten():
    async def test() -> None:
        source = Source(b"x", ends=False)
        served = front(telling(source))
        listeners = [FakeClient() for _ in range(5 * THREADS)]
        tasks = [asyncio.create_task(ask(served, LISTEN, each)) for each in listeners]
        while not all(each.got for each in listeners):
            await asyncio.sleep(0)
        assert (await ask(served, scope(), FakeClient())).status == 200
        assert not any(each.done() for each in tasks)
        for each in tasks:
            each.cancel()
        while served._listeners:
            await asyncio.sleep(0)
        assert source.let_go_of == len(listeners), "what each of them had is free again"

    in_time(test)


def test_listeners_are_sent_away_when_the_process_is_to_end():
    async def test() -> None:
        served = front(telling(Source(b"x", ends=False)))
        listener = FakeClient()
        task = asyncio.create_task(ask(served, LISTEN, listener))
        while not listener.got:
            await asyncio.sleep(0)
        served.end_listening()
        await task
        assert listener.got[-1]["more_body"] is False

    in_time(test)


def test_more_listeners_than_there_may_be_are_refused(monkeypatch):
    monkeypatch.setattr(fronts, "LISTENERS", 0)
    heard = answered(front(telling(Source(b"x"))), {**LISTEN, "raw_path": b"/api/v1/imports/1/events"})
    assert heard.status == 503
    assert dict(heard.got[0]["headers"])[b"content-type"] == b"application/problem+json"

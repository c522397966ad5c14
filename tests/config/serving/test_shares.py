"""However many requests one person sends at once, others are answered, and so is who watches over Millrace."""

import asyncio
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from config.serving.client import Gone, from_thread
from config.serving.shares import PERSON, Person, Shares
from config.serving.wsgi_call import PIECE_BYTES
from tests.config.serving.test_front import FakeClient, ask, front, in_time, scope


def of(credentials: tuple[bytes, bytes], path: bytes = b"/") -> dict[str, Any]:
    """A request with a cookie or a token."""
    return scope(path=path, headers=[credentials])


class Held:
    """An application that answers those paths at once that do not begin with /slow, and these when it may."""

    def __init__(self) -> None:
        self.may, self.begun = threading.Event(), threading.Semaphore(0)

    def __call__(self, environ: dict[str, Any], start: Callable[..., Any]) -> list[bytes]:
        if person := environ.get(PERSON):
            person.name = environ.get("HTTP_AUTHORIZATION", "").partition(" ")[0]
        if environ["PATH_INFO"] == "/slow":
            self.begun.release()
            assert self.may.wait(60)
        start("200 OK", [("Content-Length", "2")])
        return [b"ok"]


class TestShares:
    """Two threads: each person has one of them."""

    ANN, BEN = (b"cookie", b"x=1; sid=ann"), (b"cookie", b"sid=ben")

    def test_others_are_answered_while_the_requests_of_one_person_wait(self):
        async def test() -> None:
            held = Held()
            served = front(held)
            slow = [asyncio.create_task(ask(served, of(self.ANN, b"/slow"), FakeClient())) for _ in range(5)]
            await asyncio.to_thread(held.begun.acquire)
            assert (await ask(served, of(self.BEN), FakeClient())).status == 200
            assert (await ask(served, scope(), FakeClient())).status == 200
            assert not any(each.done() for each in slow)
            held.may.set()
            assert [each.status for each in await asyncio.gather(*slow)] == [200] * 5

        in_time(test)

    def test_the_tokens_of_a_person_have_one_share(self):
        async def test() -> None:
            held = Held()
            served = front(held)
            tokens = [(b"authorization", f"ann {number}".encode()) for number in range(5)]
            for each in tokens:  # From its first answer on, it is known whose token it is.
                await ask(served, of(each), FakeClient())
            slow = [asyncio.create_task(ask(served, of(each, b"/slow"), FakeClient())) for each in tokens]
            await asyncio.to_thread(held.begun.acquire)
            assert (await ask(served, of((b"authorization", b"ben 1")), FakeClient())).status == 200
            held.may.set()
            await asyncio.gather(*slow)

        in_time(test)

    def test_a_person_alone_has_all_and_each_of_two_a_half_from_the_next_request_on(self):
        async def test() -> None:
            shares, running, ends = Shares(4, "sid"), Counter[str](), {"ann": asyncio.Event(), "ben": asyncio.Event()}

            async def request(name: str) -> None:
                async with shares.taken(of((b"cookie", f"sid={name}".encode()))):
                    running[name] += 1
                    await ends[name].wait()
                    running[name] -= 1

            async def running_soon() -> dict[str, int]:
                for _ in range(10):  # Turns of the loop: nothing else is awaited.
                    await asyncio.sleep(0)
                return dict(running)

            own = [asyncio.create_task(request("ann")) for _ in range(8)]
            assert await running_soon() == {"ann": 4}
            others = [asyncio.create_task(request("ben")) for _ in range(8)]
            assert await running_soon() == {"ann": 4, "ben": 2}
            own[5].cancel()
            ends["ben"].set()
            await asyncio.gather(*others)
            assert await running_soon() == {"ann": 4, "ben": 0}
            ends["ann"].set()
            await asyncio.gather(*own, return_exceptions=True)
            assert [each.cancelled() for each in own].count(True) == 1

        in_time(test)

    @pytest.mark.parametrize(("seconds", "most"), [(0, 4), (1_000, 2)])
    def test_a_share_is_left_free_for_who_was_answered_a_moment_ago(
        self, monkeypatch: pytest.MonkeyPatch, seconds: float, most: int
    ):
        monkeypatch.setattr("config.serving.shares.KEPT_FREE", seconds)

        async def test() -> None:
            shares, running, end = Shares(4, "sid"), Counter[str](), asyncio.Event()
            for _ in range(2):  # From the first answer on, it is known whose cookie it is.
                async with shares.taken(of(self.BEN)) as person:
                    person.name = "ben"
            for each in range(1_000):
                async with shares.taken(of((b"cookie", f"sid={each}".encode()))):
                    pass

            async def request() -> None:
                async with shares.taken(of(self.ANN)):
                    running["ann"] += 1
                    await end.wait()

            own = [asyncio.create_task(request()) for _ in range(8)]
            for _ in range(10):
                await asyncio.sleep(0)
            assert running["ann"] == most
            end.set()
            await asyncio.gather(*own)

        in_time(test)

    def test_requests_and_pieces_of_a_person_alternate(self):
        async def test() -> None:
            shares, order = Shares(1, "sid"), []

            async def turn(name: str, *, for_piece: bool) -> None:
                async with shares.taken(of(self.ANN), for_piece=for_piece):
                    order.append(name)

            kinds = [("request", False)] * 4 + [("piece", True)] * 2
            async with shares.taken(of(self.ANN)):
                turns = [asyncio.create_task(turn(name, for_piece=for_piece)) for name, for_piece in kinds]
                await asyncio.sleep(0)  # All of them are waiting then.
                assert not order
            await asyncio.gather(*turns)
            assert order == ["piece", "request", "piece", "request", "request", "request"]

        in_time(test)

    def test_each_piece_of_a_long_answer_waits_for_the_other_requests_of_its_person(self):
        held, made = Held(), Counter[str]()

        class Late(FakeClient):
            """Takes what it is sent from `reads` on."""

            def __init__(self) -> None:
                super().__init__()
                self.reads = asyncio.Event()

            async def send(self, message: dict[str, Any]) -> None:
                await super().send(message)
                await self.reads.wait()

        def pieces(name: str) -> Iterator[bytes]:
            for _ in range(3):
                made[name] += 1
                yield b"x" * PIECE_BYTES

        def application(environ: dict[str, Any], start: Callable[..., Any]) -> Iterable[bytes]:
            if environ["PATH_INFO"] == "/slow":
                return held(environ, start)
            start("200 OK", [])
            return pieces(environ["PATH_INFO"])

        async def test() -> None:
            served, client = front(application), Late()
            long = asyncio.create_task(ask(served, of(self.ANN, b"/anns"), client))
            while not client.got:
                await asyncio.sleep(0)
            slow = asyncio.create_task(ask(served, of(self.ANN, b"/slow"), FakeClient()))
            await asyncio.to_thread(held.begun.acquire)
            client.reads.set()
            others = [await ask(served, of(self.BEN, b"/bens"), FakeClient()) for _ in range(10)]
            assert [len(each.body) for each in others] == [3 * PIECE_BYTES] * 10
            assert made == {"/bens": 30}
            held.may.set()
            assert len((await long).body) == 3 * PIECE_BYTES
            assert (await slow).status == 200

        in_time(test)

    @pytest.mark.parametrize("path", [b"/healthz", b"/readyz"])
    def test_who_watches_is_answered_while_all_threads_wait(self, path: bytes):
        async def test() -> None:
            held = Held()
            served = front(held)
            slow = [asyncio.create_task(ask(served, of(each, b"/slow"), FakeClient())) for each in (self.ANN, self.BEN)]
            for _ in slow:
                await asyncio.to_thread(held.begun.acquire)
            assert (await ask(served, scope(path=path), FakeClient())).status == 200
            held.may.set()
            await asyncio.gather(*slow)

        in_time(test)


def test_a_thread_that_waits_for_a_loop_gives_up_when_that_has_ended():
    """So that a web process with a download under way ends."""
    asked = threading.Event()

    class Loop(asyncio.SelectorEventLoop):
        def call_soon_threadsafe(self, *of: Any, **more: Any) -> asyncio.Handle:
            handle = super().call_soon_threadsafe(*of, **more)
            asked.set()
            return handle

    async def nothing() -> None: ...

    loop = Loop()
    with ThreadPoolExecutor(1) as threads:
        waiting = threads.submit(from_thread, nothing(), loop)
        assert asked.wait(60)
        loop.close()
        with pytest.raises(Gone):
            waiting.result(60)


@pytest.mark.django_db
def test_the_application_says_whose_request_it_is(client: Client):
    ann, nobody, somebody = User.objects.create_user("ann"), Person(), Person()
    client.get("/login/", **{PERSON: nobody})
    client.force_login(ann)
    client.get("/", **{PERSON: somebody})
    assert (nobody.name, somebody.name) == ("", str(ann.pk))

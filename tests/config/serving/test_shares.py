"""However many requests one person sends at once, others are answered, and so is who watches over Millrace."""

import asyncio
import threading
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from config.serving.shares import PERSON, Person, Shares
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


@pytest.mark.django_db
def test_the_application_says_whose_request_it_is(client: Client):
    ann, nobody, somebody = User.objects.create_user("ann"), Person(), Person()
    client.get("/login/", **{PERSON: nobody})
    client.force_login(ann)
    client.get("/", **{PERSON: somebody})
    assert (nobody.name, somebody.name) == ("", str(ann.pk))

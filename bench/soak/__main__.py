"""Measures what one person feels while another one does everything at once that the web server offers.

    python -m bench.soak                                   200 connections of each kind, 10 minutes
    python -m bench.soak --connections 20 --minutes 1

One operator announces and sends uploads slowly, has targets checked that are silent, slow or without an end, plans and
checks the worst files, downloads and searches a history of 2,000 imports, follows imports, and starts labs. Each
connection sends its next request when it has the answer, a second after a refusal. The other person opens pages, one
after the other. The output has the milliseconds of these pages, the memory of each web process at the end, and what
the operator was answered, by kind and status; at the end whether each bar was kept, in a line each.
"""

import argparse
import asyncio
import io
import multiprocessing
import os
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from http.client import HTTPConnection
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import psutil

from bench.application import set_up
from bench.soak.client import Request, send
from bench.viewers import PATIENCE, web_server
from tests.hostile_servers import KINDS

PAGES = ("/", "/jobs/", "/history/", "/new/", "/schedules/", "/targets/", "/jobs/1/", "/healthz")
IMPORTS, CHUNKS = 2_000, 20_000
AFTER_A_REFUSAL = 1.0  # seconds
UNDER_WAY = "under way at the end"
# What must hold: seconds of a page, MiB of a process, and the statuses of which each has a message.
PAGE_SECONDS, PROCESS_MIB = 1.0, 400
ANSWERS = (200, 201, 204, 408, 409, 413, 422, 423, 424, 429, 503)
ALONE = 15  # seconds in which the other person works alone, first
SERVERS = ("silent", "greets by the byte", "endless columns")  # that are checked
FIELDS, KEYS = 2_000_000, 600_000  # of the one record of the worst files
Make = Callable[[int], Request]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--connections", type=int, default=200, help="of each kind")
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--kinds", nargs="*", help="only these")
    arguments = parser.parse_args()
    os.environ |= {"UPLOADS_PER_MINUTE": "0", "STARTS_PER_MINUTE": "0", "CHECKS_PER_MINUTE": "0"}
    set_up(Path("var/bench/soak"))
    cookie, token = _people()
    with web_server() as (port, server):
        quiet, before = _work(port, cookie, time.monotonic() + ALONE), _memory(server)
        answers, busy = asyncio.run(_soak(arguments, port, token, cookie))
        after = _memory(server)
    for kind, statuses in answers.items():
        print(f"{kind:14} {', '.join(f'{count:,} x {status}' for status, count in sorted(statuses.items()))}")
    print(f"pages, alone:      {_shares(quiet)}")
    print(f"pages, in between: {_shares(busy)}")
    print(f"memory of the web processes: {_in_words(before)} MiB before, {_in_words(after)} MiB after")
    for bar, kept in _bars(busy, after, answers).items():
        print(f"{'kept    ' if kept else 'NOT KEPT'} {bar}")


def _bars(busy: list[float], after: list[float], answers: dict[str, Counter[str]]) -> dict[str, bool]:
    """What must hold on a quiet machine, and whether it did."""
    from importer.models import ImportJob, SourceFile

    statuses = {status for each in answers.values() for status in each} - {UNDER_WAY}
    announced = answers.get("announcements", Counter())["201"]
    return {
        f"99 % of the other person's pages within {PAGE_SECONDS} s": _at(sorted(busy), 0.99) <= PAGE_SECONDS,
        f"at most {PROCESS_MIB} MiB in each web process at the end": max(after) <= PROCESS_MIB,
        "each refusal is a status with a message": all(each.isdigit() and int(each) in ANSWERS for each in statuses),
        "no import and no announced upload is lost": ImportJob.objects.count() >= IMPORTS
        and SourceFile.objects.filter(name="later.csv").count() >= announced,
    }


def _people() -> tuple[str, str]:
    """Make the application's tables, its history, and the two people; the cookie of one, the token of the other."""
    from django.core.management import call_command

    call_command("prepare", stdout=io.StringIO())
    from django.conf import settings
    from django.test import Client

    from bench.seed_history import write_history
    from importer.access import people, tokens
    from importer.models import Grant, Level, Role, Scope

    write_history(IMPORTS, CHUNKS)
    browser = Client()
    browser.force_login(people.add("reader", Role.ADMIN))
    operator = people.add("operator", Role.OPERATOR)
    Grant.objects.create(user=operator, kind=Grant.Kind.TARGET, level=Level.ADMINISTER)
    _, token = tokens.make(operator, "soak", 1, [each.value for each in Scope if each is not Scope.PEOPLE])
    name = settings.SESSION_COOKIE_NAME
    return f"{name}={browser.cookies[name].value}", token


def _work(port: int, cookie: str, until: float) -> list[float]:
    """Open the pages in turn until the time (monotonic) is up; the seconds of each."""
    waits = []
    while time.monotonic() < until:
        for path in PAGES:
            began = time.monotonic()
            connection = HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
            connection.request("GET", path, headers={"Cookie": cookie})
            status = connection.getresponse().status
            assert status == 200, f"{path} is answered with {status}"
            waits.append(time.monotonic() - began)
    return waits


def _work_into(pipe: Connection, port: int, cookie: str, seconds: float) -> None:
    pipe.send(_work(port, cookie, time.monotonic() + seconds))


async def _soak(
    arguments: argparse.Namespace, port: int, token: str, cookie: str
) -> tuple[dict[str, Counter[str]], list[float]]:
    """Everything at once; the answers by kind, and the waits of the other person."""
    seconds = arguments.minutes * 60
    until = asyncio.get_running_loop().time() + seconds
    kinds = await _kinds(port, token)
    chosen = {name: make for name, make in kinds.items() if not arguments.kinds or name in arguments.kinds}
    answers: dict[str, Counter[str]] = {name: Counter() for name in chosen}
    mine, theirs = multiprocessing.get_context("fork").Pipe()
    other = multiprocessing.get_context("fork").Process(target=_work_into, args=(theirs, port, cookie, seconds))
    other.start()
    async with asyncio.TaskGroup() as group:
        for name, make in chosen.items():
            for number in range(arguments.connections):
                group.create_task(_again_and_again(port, make, number, until, answers[name]))
    waits: list[float] = await asyncio.to_thread(mine.recv)
    other.join()
    return answers, waits


async def _again_and_again(port: int, make: Make, number: int, until: float, answers: Counter[str]) -> None:
    loop = asyncio.get_running_loop()
    while loop.time() < until:
        try:
            answer = await send(port, make(number), until)
        except (OSError, asyncio.IncompleteReadError) as error:
            answers[type(error).__name__] += 1
            await asyncio.sleep(AFTER_A_REFUSAL)
            continue
        answers[str(answer.status) if answer else UNDER_WAY] += 1
        if answer and answer.status >= 400:
            await asyncio.sleep(AFTER_A_REFUSAL)


async def _kinds(port: int, token: str) -> dict[str, Make]:
    """What the operator does, each as the request of a connection."""
    import json

    signed = {"Authorization": f"Bearer {token}", "Accept": "application/json"}
    typed = {**signed, "Content-Type": "application/json"}
    targets = await asyncio.to_thread(_hostile_targets)
    wide = await _uploaded(port, signed, "wide.csv", b",".join([b"1"] * FIELDS) + b"\n")
    keys = await _uploaded(port, signed, "keys.json", json.dumps({f"k{each}": each for each in range(KEYS)}).encode())
    slow = [await _announced(port, signed, "slow.csv", 10**6) for _ in range(8)]
    part = {**signed, "Tus-Resumable": "1.0.0", "Content-Type": "application/offset+octet-stream", "Upload-Offset": "0"}

    def get(path: str, **headers: str) -> Make:
        return lambda _: Request("GET", f"/api/v1/{path}", {**signed, **headers})

    def post(path: str, **body: Any) -> Make:
        return lambda _: Request("POST", f"/api/v1/{path}", typed, json.dumps(body).encode())

    return {
        "announcements": lambda _: _announcement(signed, "later.csv", 10**6),
        "slow uploads": lambda number: Request("PATCH", slow[number % len(slow)], part, b"1" * 200_000, 100),
        "checks": lambda number: Request("POST", f"/api/v1/targets/{targets[number % len(targets)]}/check", typed),
        "tables": lambda number: Request("GET", f"/api/v1/targets/{targets[number % len(targets)]}/tables", signed),
        "wide plans": post("plans", file=wide, target="hostile 0", table="t"),
        "wide checks": post("checks", file=wide),
        "keys": post("checks", file=keys),
        "exports": get("history.csv"),
        "searches": get("history?where=rows%20%3E%201&sort=-rows"),
        "listeners": get("imports/1/events", Accept="text/event-stream"),
        "labs": post("labs/plan", file=wide, target="hostile 1", table="t"),
    }


def _hostile_targets() -> list[int]:
    from importer.models import Target

    place = {"host": "127.0.0.1", "user": "u", "database": "d", "tls": "off"}
    # They serve until the process ends.
    ports = [KINDS[each]().__enter__().port for each in SERVERS]
    return [Target.objects.create(name=f"hostile {number}", port=port, **place).pk for number, port in enumerate(ports)]


def _announcement(signed: dict[str, str], name: str, size: int) -> Request:
    import base64

    metadata = f"filename {base64.b64encode(name.encode()).decode()}"
    headers = {"Tus-Resumable": "1.0.0", "Upload-Length": str(size), "Upload-Metadata": metadata}
    return Request("POST", "/api/v1/uploads", {**signed, **headers})


async def _announced(port: int, signed: dict[str, str], name: str, size: int) -> str:
    """Announce a file; the path of its upload."""
    answer = await send(port, _announcement(signed, name, size), asyncio.get_running_loop().time() + PATIENCE)
    assert answer, "an announcement was not answered"
    assert answer.status == 201, answer
    return answer.headers["location"]


async def _uploaded(port: int, signed: dict[str, str], name: str, content: bytes) -> str:
    """Upload a file; its key."""
    path = await _announced(port, signed, name, len(content))
    headers = {**signed, "Tus-Resumable": "1.0.0", "Content-Type": "application/offset+octet-stream"}
    sent = Request("PATCH", path, {**headers, "Upload-Offset": "0"}, content)
    answer = await send(port, sent, asyncio.get_running_loop().time() + PATIENCE)
    assert answer, "an upload was not answered"
    assert answer.status == 204, answer
    return path.rstrip("/").rpartition("/")[2]


def _shares(waits: list[float]) -> str:
    ordered = sorted(1000 * each for each in waits)
    share = partial(_at, ordered)
    return f"{len(waits):,} pages, median {share(0.5):.0f} ms, 99 % {share(0.99):.0f} ms, longest {ordered[-1]:.0f} ms"


def _at(ordered: list[float], part: float) -> float:
    return ordered[min(len(ordered) - 1, int(part * len(ordered)))]


def _memory(server: psutil.Process) -> list[float]:
    """MiB of each process."""
    sizes = []
    for each in server.children(recursive=True):
        with suppress(psutil.NoSuchProcess):  # That of an errand ends with it.
            sizes.append(each.memory_info().rss / 2**20)
    return sizes


def _in_words(memory: list[float]) -> str:
    return ", ".join(f"{each:.0f}" for each in memory)


if __name__ == "__main__":
    main()

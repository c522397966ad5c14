"""An agent that works with Millrace by the Model Context Protocol, over standard input and output."""

import json
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from threading import Barrier, BrokenBarrierError
from typing import Any

import anyio
import pytest
from mcp import Client, StdioServerParameters

from importer.management.command_line.remote.agent import Agent
from importer.models import ImportJob, SourceFile, Target
from millrace_client.api import Millrace
from tests.importer.management.command_line.remote.conftest import ROWS, rows
from tests.stack import ROOT, Stack
from tests.targets import saved_target

PROGRAM = "from importer.management.command_line.main import main; main()"
INTO = {"target": "warehouse", "table": "orders"}
Called = list[tuple[bool, Any]]


def called(web: Stack, token: str, folder: Path, *calls: tuple[str, dict[str, Any]]) -> tuple[dict[str, bool], Called]:
    """The tools with whether they only read, and for each call whether it is a problem, and its answer."""
    env = {"MILLRACE_TOKEN": token, "PYTHONPATH": str(ROOT), "HOME": str(folder)}
    line = ["-c", PROGRAM, "--server", web.url, "mcp", "--files", str(folder)]
    server = StdioServerParameters(command=sys.executable, args=line, env=env, cwd=folder)

    async def use() -> tuple[dict[str, bool], Called]:
        async with Client(server) as client:
            tools = {each.name: each.annotations.read_only_hint for each in (await client.list_tools()).tools}
            answers: Called = []
            job = None
            for name, values in calls:
                arguments = {key: job if value is LAST_JOB else value for key, value in values.items()}
                answer = await client.call_tool(name, arguments)
                text = answer.content[0].text
                told = text if answer.is_error else json.loads(text)
                job = told.get("job") or job if isinstance(told, dict) else job
                answers.append((bool(answer.is_error), told))
            return tools, answers

    return anyio.run(use)


LAST_JOB = object()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "files"
    folder.mkdir()
    (folder / "orders.csv").write_bytes(ROWS)
    (tmp_path / "secret.csv").write_bytes(ROWS)
    return folder


def test_an_agent_loads_files_of_its_folder_and_writes_nothing_that_needs_approval(web, token, target, mariadb, folder):
    Target.objects.filter(pk=saved_target(mariadb, "guarded").pk).update(needs_approval=True)
    guarded = {"target": "guarded", "table": "orders", "files": ["orders.csv"]}
    tools, answers = called(
        web, token, folder,
        ("load", guarded),
        ("watch", {"job": LAST_JOB, "seconds": 60}),
        ("approve", {"job": LAST_JOB}),
        ("targets", {}),
        ("cancel", {"job": LAST_JOB}),
        ("plan", {**INTO, "files": ["orders.csv"]}),
        ("load", {**INTO, "files": ["orders.csv"]}),
        ("watch", {"job": LAST_JOB, "seconds": 60}),
        ("rejects", {"job": LAST_JOB}),
        ("plan", {**INTO, "files": ["../secret.csv"]}),
        ("plan", {**INTO, "files": ["orders.csv"], "table": "order"}),
    )  # fmt: skip
    writing = {name for name, reads in tools.items() if not reads}
    assert writing == {"load", "apply", "compare", "drop", "undo", "cancel"}
    assert {"plan", "approve", "watch", "rejects"} <= set(tools)
    assert [problem for problem, _ in answers] == [False] * 9 + [True] * 2
    begun, waiting, approval, _, given_up, plan, _, ended, rejected, outside, unknown = (told for _, told in answers)
    assert waiting["outcome"] == "waits for approval"
    assert f"{web.url}/jobs/{begun['job']}/" in approval["what_to_do"]
    assert approval["approval"]["approved_by"] is None
    assert given_up["outcome"] == "cancelled"
    assert plan["outcome"] == "planned"
    assert (ended["outcome"], ended["balanced"], ended["rows"]["loaded"]) == ("succeeded", True, 2)
    assert rejected["items"] == []
    assert "may be uploaded" in outside
    assert "orders" in unknown
    assert rows(target) == [(1, "ann", "1.50"), (2, "bob", None)]
    assert SourceFile.objects.count() == 1, "a file is sent again that has been sent"


class InTwos(Millrace):
    """Begins two uploads at the same time, where it may."""

    both = Barrier(2, timeout=1)

    def upload(self, *args: Any) -> str:
        with suppress(BrokenBarrierError):
            self.both.wait()
        return super().upload(*args)


class TestRepeatedCalls:
    LOAD: Any = {**INTO, "files": ["orders.csv"], "settings": {"options": {"mode": "upsert"}}}

    def test_of_load_start_one_import_also_after_its_end(self, millrace, target, folder):
        agent = Agent(millrace, folder)
        first = agent.load(**self.LOAD)["job"]
        millrace.wait(first)
        assert agent.load(**self.LOAD)["job"] == first
        again = agent.load(**self.LOAD, again=True)["job"]
        assert again != first
        assert millrace.wait(again)["outcome"] == "succeeded"
        assert (ImportJob.objects.count(), SourceFile.objects.count()) == (2, 1)

    def test_send_a_file_once_that_is_still_uploaded(self, web, token, millrace, target, folder):
        agent = Agent(InTwos(web.url, token), folder)
        with ThreadPoolExecutor(2) as pool:
            begun = list(pool.map(lambda _: agent.load(**self.LOAD)["job"], range(2)))
        assert begun == [ImportJob.objects.get().pk] * 2
        assert millrace.wait(begun[0])["outcome"] == "succeeded"
        assert SourceFile.objects.count() == 1

    def test_send_a_file_again_that_the_server_has_deleted(self, millrace, target, folder):
        agent = Agent(millrace, folder)
        for _ in range(2):
            assert agent.plan(**self.LOAD)["outcome"] == "planned"
            millrace.remove_upload(str(SourceFile.objects.get().key))


def test_answers_in_the_settings_count(millrace, target, folder):
    (folder / "orders.csv").write_bytes(b"id,name,price\n1,ann,1.50\n")
    answers = {"mapping:price": "leave it out"}
    planned = Agent(millrace, folder).plan(**INTO, files=["orders.csv"], settings={"answers": answers})
    assert planned["outcome"] == "planned"


def test_a_load_can_be_like_another_one(millrace, target, folder):
    agent = Agent(millrace, folder)
    first = agent.load(**INTO, files=["orders.csv"])["job"]
    assert millrace.wait(first)["outcome"] == "succeeded"
    header = ROWS.splitlines(keepends=True)[0]
    (folder / "next.csv").write_bytes(header + b"77,eve,2\n")
    planned = agent.plan(files=["next.csv"], settings={"like": first})
    assert planned["outcome"] == "planned"
    assert {each["standing"] for each in planned["reading"]["columns"]} == {"stated"}

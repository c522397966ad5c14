"""Tests config/telemetry/json_lines.py: logs for programs, with ids; texts of others stay inside their record."""

import json
import logging
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from config.telemetry.json_lines import JsonFormatter
from importer.jobs.steps.chunk_leases import ChunkRun
from importer.models import Chunk, ImportJob
from importer.worker.errors import as_problem
from tests.stack import ROOT
from tests.test_plain_text import CONTROLS, FORGED

JOB = ImportJob(pk=17)
CHUNKS = [Chunk(pk=1, job=JOB, number=3), Chunk(pk=2, job=JOB, number=4)]


def logged(*arguments: object, error: Exception | None = None) -> dict[str, Any]:
    """The object that a record becomes."""
    information = (type(error), error, error.__traceback__) if error else None
    record = logging.LogRecord("importer", logging.WARNING, __file__, 1, "%s: not read", arguments, information)
    line = JsonFormatter().format(record)
    assert line.isascii()
    assert line.isprintable()
    document: dict[str, Any] = json.loads(line)
    return document


@pytest.mark.parametrize(
    ("about", "ids"),
    [
        (JOB, {"job": 17}),
        (CHUNKS[1], {"job": 17, "chunk": 4}),
        (ChunkRun(key=JOB.key, job=JOB, chunks=CHUNKS), {"job": 17, "chunk": 3}),
        ("chunk 3 of import 17", {}),
    ],
    ids=["import", "chunk", "run", "text"],
)
def test_a_record_has_the_ids_of_what_it_is_about(about: object, ids: dict[str, int]):
    document = logged(about)
    assert {name: document[name] for name in ("job", "chunk") if name in document} == ids
    assert document["message"] == f"{about}: not read"
    assert (document["level"], document["logger"], document["process"]) == ("WARNING", "importer", os.getpid())


@pytest.mark.parametrize("text", [FORGED, f"a{CONTROLS}z", "名前 naïve Ω"])
def test_no_text_begins_a_line_and_all_of_it_can_be_read_back(text: str):
    document = logged(text, error=ValueError(text))
    assert document["message"] == f"{text}: not read"
    assert text in document["exception"]


def test_an_unexpected_error_of_a_chunk_is_logged_with_its_ids(caplog: pytest.LogCaptureFixture):
    as_problem(ZeroDivisionError("0"), CHUNKS[0], JOB)
    [record] = caplog.records
    document = json.loads(JsonFormatter().format(record))
    assert (document["job"], document["chunk"]) == (17, 3)
    assert "ZeroDivisionError" in document["exception"]


def environment(tmp_path: Path, log_format: str) -> dict[str, str]:
    return {"PATH": "/usr/bin:/bin", "VAR_DIR": str(tmp_path), "LOG_FORMAT": log_format}


SET_UP = "import django, logging, os\nos.environ['DJANGO_SETTINGS_MODULE'] = 'config.settings'\ndjango.setup()\n"


def written(tmp_path: Path, log_format: str, program: str) -> str:
    """What a process with these settings writes into its log."""
    command, env = [sys.executable, "-c", SET_UP + program], environment(tmp_path, log_format)
    return subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True).stderr.strip()


def test_the_setting_chooses_the_format(tmp_path: Path):
    program = "logging.getLogger('importer').warning('hello')"
    lines = {each: written(tmp_path, each, program) for each in ("line", "json")}
    assert lines["line"].endswith("WARNING importer: hello")
    assert json.loads(lines["json"])["message"] == "hello"


def test_a_request_for_another_host_takes_one_line(tmp_path: Path):
    program = "from django.test import Client\nClient().get('/api/v1/imports', HTTP_HOST='evil.example')"
    log = written(tmp_path, "line", program)
    assert [each for each in log.splitlines() if "evil.example" in each and "DisallowedHost: Invalid HTTP_HOST" in each]
    assert "Traceback" not in log


def test_another_format_is_refused(tmp_path: Path):
    env = environment(tmp_path, "xml")
    done = subprocess.run([sys.executable, "-c", "from config import settings"], cwd=ROOT, env=env, capture_output=True)
    assert b"LOG_FORMAT is 'xml'. Write line or json." in done.stderr

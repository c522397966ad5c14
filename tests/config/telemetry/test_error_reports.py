"""Tests config/telemetry/error_reports.py: what Sentry gets of an unexpected error, and that it gets no values."""

import gzip
import json
import os
import subprocess
import sys
import zlib
from pathlib import Path
from typing import Any

import pytest

from config.telemetry.error_reports import report_of
from tests.importer.notifications.receivers import Hook, catcher
from tests.stack import ROOT

# In each place that a program could send it from.
PRIVATE = "unmistakable-value"
# Unexpected errors: of a chunk, of a page, of a library, and one that ends the program. In between, no errors of ours.
PROGRAM = """
import django, logging, os
from django.conf import settings
settings.STORAGES["staticfiles"]["BACKEND"] = "django.contrib.staticfiles.storage.StaticFilesStorage"
django.setup()
settings.MIDDLEWARE = ["django.middleware.common.CommonMiddleware"]
from importer.models import Chunk, ImportJob
from importer.worker.errors import as_problem

secret = os.environ["PRIVATE"]
logging.getLogger("importer.worker").warning("loaded %s", secret)

def convert(value):
    return int(value)

job = ImportJob(pk=17)
try:
    convert(secret)
except ValueError as error:
    as_problem(error, Chunk(pk=1, job=job, number=3), job)
from django.test import Client
from django.urls import path
import config.urls
def page(request, name):
    raise RuntimeError(request.GET["q"])
config.urls.urlpatterns.append(path("broken/<str:name>/", page))
client = Client(raise_request_exception=False, HTTP_HOST="localhost", headers={"Authorization": secret})
client.post(f"/broken/{secret}/?q={secret}", {"x": secret})
client.get("/", headers={"Host": "scanner.example.org"})  # a request that anybody may send
client.get("/readyz")  # 503: there is no Redis
try:
    convert(secret)
except ValueError:
    logging.getLogger("some.library").exception(f"sent {secret}")
raise KeyError(secret)
"""


@pytest.fixture(scope="module")
def hook(tmp_path_factory: pytest.TempPathFactory) -> Hook:
    """What came at Sentry from the program."""
    folder = tmp_path_factory.mktemp("reports")
    with catcher() as hook:
        environment = os.environ | {
            "DJANGO_SETTINGS_MODULE": "config.settings",
            "VAR_DIR": str(folder),
            "SENTRY_DSN": hook.origin.replace("//", "//key@") + "/1",
            "PRIVATE": PRIVATE,
        }
        command = [sys.executable, "-c", PROGRAM, PRIVATE]
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert "KeyError" in done.stderr
    assert "Sentry" not in done.stderr
    return hook


def bodies(hook: Hook) -> list[bytes]:
    """The requests as they were before they were packed."""
    unpack = {"gzip": gzip.decompress, "deflate": zlib.decompress, None: bytes}
    return [unpack[headers["Content-Encoding"]](body) for headers, body in hook.came]


def events(hook: Hook) -> list[dict[str, Any]]:
    """The events: an envelope has a header, and for each item a header and a line (develop.sentry.dev)."""
    lines = [json.loads(line) for body in bodies(hook) for line in body.splitlines()]
    return [each for each in lines if "platform" in each]


def test_each_unexpected_error_is_reported_once(hook: Hook):
    kinds = [[error["type"] for error in each["exception"]["values"]] for each in events(hook) if "exception" in each]
    assert kinds == [["ValueError"], ["RuntimeError"], ["ValueError"], ["KeyError"]]
    assert len(events(hook)) == len(kinds)


def test_a_report_says_where_and_about_which_import(hook: Hook):
    of_chunk = events(hook)[0]
    assert of_chunk["tags"] == {"job": "17", "chunk": "3"}
    assert of_chunk["logentry"]["message"] == "%s: unexpected error"
    assert of_chunk["exception"]["values"][0]["stacktrace"]["frames"][-1]["function"] == "convert"
    assert of_chunk["release"].startswith("millrace@")


def test_no_value_is_sent(hook: Hook):
    """...neither of a text, a variable, an argument, an address, a header, a form, nor of a library's message."""
    assert len(hook.came) >= 4
    for headers, body in zip((headers for headers, _ in hook.came), bodies(hook), strict=True):
        assert PRIVATE.encode() not in body
        assert PRIVATE not in str(headers)


def test_what_is_not_known_is_left_out():
    """A newer SDK may add parts to an event."""
    event = {
        "event_id": "1",
        "a new part": PRIVATE,
        "request": {"url": PRIVATE},
        "exception": {
            "values": [{"type": "X", "value": PRIVATE, "stacktrace": {"frames": [{"vars": {"v": PRIVATE}}]}}]
        },
    }
    assert PRIVATE not in json.dumps(report_of(event, {}))


@pytest.mark.parametrize(
    ("setting", "value", "package"),
    [
        ("SENTRY_DSN", "https://key@sentry.example.org/1", "sentry-sdk"),
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://collector:4318", "opentelemetry-exporter-otlp-proto-http"),
    ],
)
def test_a_missing_package_is_named(setting: str, value: str, package: str, tmp_path: Path):
    """...in an environment that has Millrace's own packages only."""
    code = (
        "import importlib.metadata as m; found = m.version\n"
        f"def version(name):\n    if name == {package!r}: raise m.PackageNotFoundError(name)\n    return found(name)\n"
        "m.version = version\nimport config.settings"
    )
    environment = {"PATH": os.environ["PATH"], "VAR_DIR": str(tmp_path), setting: value}
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, text=True)
    assert f"{setting} is set, and its package {package} is not installed" in done.stderr
    assert f"pipx inject millrace {package}" in done.stderr

"""Tests config/telemetry/traces.py: what a collector gets of imports, over OTLP; and that it gets no values."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from uuid import UUID

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status

from config.telemetry import traces
from config.telemetry.traces import ImportTrace
from importer import queue
from importer.engine.mysql.connection import Address
from importer.engine.plan.options import Options
from importer.jobs import lifecycle
from importer.models import ImportJob, JobRecord, Target
from importer.preparation.prepare import ImportRequest
from tests.importer.notifications.receivers import Hook, catcher
from tests.importer.steps import import_of, run
from tests.stack import ROOT, Stack, wait_until
from tests.targets import target_with

KEY = UUID("0c5c6a5e-6f0a-4b63-8f5c-0d0b8b8f3c11")
# A value of a row, which must not leave the installation.
PRIVATE = "unmistakable-value"
OK = Status.StatusCode.STATUS_CODE_UNSET
ERROR = Status.StatusCode.STATUS_CODE_ERROR


@pytest.fixture
def collector(settings, monkeypatch) -> Iterator[Hook]:
    """A collector that this process, and those that it starts, send their spans to."""
    with catcher() as hook:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", hook.origin)
        settings.OTEL_EXPORTER_OTLP_ENDPOINT = hook.origin
        traces._provider.cache_clear()
        yield hook
        traces._provider().shutdown()
    traces._provider.cache_clear()


@pytest.fixture
def target(mariadb: Address, transactional_db) -> Target:
    return target_with(mariadb, "CREATE TABLE t (n TINYINT UNSIGNED, word VARCHAR(20))", name="t")


def spans(hook: Hook) -> list[Span]:
    """All spans that came, in the order of their beginnings."""
    requests = [ExportTraceServiceRequest.FromString(body) for _, body in hook.came]
    scopes = [scope for request in requests for resource in request.resource_spans for scope in resource.scope_spans]
    return sorted((span for scope in scopes for span in scope.spans), key=lambda span: span.start_time_unix_nano)


def processes(hook: Hook) -> set[int]:
    """The processes that sent spans."""
    requests = [ExportTraceServiceRequest.FromString(body) for _, body in hook.came]
    about = [each for request in requests for spans in request.resource_spans for each in spans.resource.attributes]
    return {each.value.int_value for each in about if each.key == "process.pid"}


def attributes(span: Span) -> dict[str, object]:
    return {each.key: getattr(each.value, str(each.value.WhichOneof("value"))) for each in span.attributes}


def imported(target: Target, path: Path, rows: list[str]) -> ImportJob:
    """An import of the rows, each of which is a chunk."""
    path.write_text("n,word\n" + "".join(f"{row}\n" for row in rows))
    return run(import_of(path, target, options=Options(parallelism=1, commit_rows=1)))


class TestIds:
    def test_every_host_computes_the_same(self):
        code = f"from config.telemetry.traces import ImportTrace as T; t = T('{KEY}', 2); print(t.trace_id, t.span_id)"
        done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
        trace = ImportTrace(KEY, 2)
        assert done.stdout.split() == [str(trace.trace_id), str(trace.span_id)]

    def test_attempts_of_an_import_are_spans_of_one_trace(self):
        first, second = ImportTrace(KEY, 1), ImportTrace(KEY, 2)
        assert first.trace_id == second.trace_id
        assert first.span_id != second.span_id
        assert 0 < first.trace_id < 2**128
        assert 0 < first.span_id < 2**64


@pytest.mark.usefixtures("no_workers")
class TestImports:
    def test_an_import_is_a_trace_with_its_phases_and_chunks(self, collector: Hook, target: Target, tmp_path: Path):
        job = imported(target, tmp_path / "t.csv", [f"{n},{PRIVATE}" for n in range(3)])
        assert job.balanced
        traces.flush()
        found = spans(collector)
        assert {span.trace_id for span in found} == {job.trace.trace_id.to_bytes(16)}
        [attempt] = [span for span in found if span.name == "import"]
        assert (attempt.span_id, attempt.parent_span_id) == (job.trace.span_id.to_bytes(8), b"")
        assert {span.parent_span_id for span in found if span is not attempt} == {attempt.span_id}
        assert [span.name for span in found if span is not attempt] == ["scan", *["load chunk"] * 3, "verify"]
        assert {span.status.code for span in found} == {OK}
        about = attributes(attempt)
        assert (about["millrace.job"], about["millrace.rows"], about["millrace.outcome"]) == (job.pk, 3, "succeeded")
        chunks = [attributes(span) for span in found if span.name == "load chunk"]
        assert [each["millrace.chunk"] for each in chunks] == [0, 1, 2]
        assert [(each["millrace.rows.loaded"], each["millrace.rows.rejected"]) for each in chunks] == [(1, 0)] * 3
        lasted = [span.end_time_unix_nano - span.start_time_unix_nano for span in found if span.name == "load chunk"]
        recorded = [(each.finished_at - each.started_at).total_seconds() for each in job.chunks.order_by("number")]
        assert [each / 1e9 for each in lasted] == pytest.approx(recorded, abs=1e-5)

    def test_no_value_of_a_row_and_no_address_is_sent(self, collector: Hook, target: Target, tmp_path: Path):
        """...although the message of the failed import has the value."""
        job = imported(target, tmp_path / "t.csv", ["1,a", f"2,{PRIVATE}-of-too-many-characters"])
        assert PRIVATE in str(job.problem)
        traces.flush()
        [attempt] = [span for span in spans(collector) if span.name == "import"]
        assert attempt.status.code == ERROR
        failed = [span for span in spans(collector) if span.name == "load chunk" and span.status.code == ERROR]
        assert [attributes(span)["error.type"] for span in failed] == ["RowsRefused"] * len(failed) != []
        sent = b"".join(body for _, body in collector.came)
        for private in (target.address.host, str(target.address.port), PRIVATE):
            assert private.encode() not in sent

    def test_processes_of_a_command_send_theirs_before_they_end(
        self, collector: Hook, target: Target, tmp_path: Path, monkeypatch
    ):
        path = tmp_path / "t.csv"
        path.write_text("n,word\n" + "1,a\n" * 50)
        begin = (
            "import django; django.setup(); from config.telemetry import traces; import multiprocessing, uuid\n"
            "def work():\n    with traces.span('scan', traces.ImportTrace(uuid.UUID(int=1), 1)): pass\n"
            "child = multiprocessing.get_context('fork').Process(target=work); child.start(); child.join()"
        )
        environment = os.environ | {"DJANGO_SETTINGS_MODULE": "config.settings", "VAR_DIR": str(tmp_path / "var")}
        done = subprocess.run([sys.executable, "-c", begin], cwd=ROOT, env=environment, capture_output=True)
        assert done.returncode == 0, done.stderr.decode()
        assert [span.name for span in spans(collector)] == ["scan"]


def test_the_spans_of_all_workers_come_together(stack: Stack, collector: Hook, target: Target, tmp_path: Path):
    """...also those of the last moments of a process, which its end sends."""
    path = tmp_path / "t.csv"
    path.write_text("n,word\n" + "".join(f"{n},a\n" for n in range(200)))
    request = ImportRequest(options=Options(parallelism=2, commit_rows=1))
    with stack.workers_with(2, OTEL_EXPORTER_OTLP_ENDPOINT=collector.origin):
        job = import_of(path, target, "t", request)
        queue.send(lifecycle.advance(job.pk))
        wait_until(lambda: JobRecord.objects.filter(job=job).exists(), what="the import and its record")
    found = spans(collector)
    assert {span.trace_id for span in found} == {job.trace.trace_id.to_bytes(16)}
    loaded = [attributes(span)["millrace.chunk"] for span in found if span.name == "load chunk"]
    assert sorted(loaded) == list(range(200))
    assert {"import", "scan", "verify"} <= {span.name for span in found}
    assert len(processes(collector)) > 1


def test_the_manual_has_each_span():
    code = "\n".join(path.read_text() for path in (ROOT / "importer").rglob("*.py"))
    made = {*re.findall(r'traces\.(?:span|add_span)\(\s*"([\w ]+)"', code), "import"}
    manual = (ROOT / "docs" / "operations.md").read_text().partition("## Traces\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (`.*?) \|", manual, re.MULTILINE)
    assert {name for row in rows for name in re.findall(r"`([\w ]+)`", row)} == made >= {"scan", "load chunk"}


def test_a_collector_that_is_away_disturbs_nobody(settings, monkeypatch):
    with catcher() as hook:
        gone = hook.origin
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", gone)
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "1")
    settings.OTEL_EXPORTER_OTLP_ENDPOINT = gone
    traces._provider.cache_clear()
    with traces.span("scan", ImportTrace(KEY, 1)):
        done = True
    assert done
    traces._provider().shutdown()
    traces._provider.cache_clear()


def test_nothing_that_sends_is_imported_without_its_setting(tmp_path: Path):
    """...other than OpenTelemetry's SDK, which the client of Redis imports wherever it finds it."""
    code = (
        "import django; django.setup(); import importer.tasks, sys\n"
        "names = ('config.telemetry.traces', 'opentelemetry.exporter', 'opentelemetry.proto', 'sentry_sdk')\n"
        "print(*(name for name in names if name in sys.modules))"
    )
    environment = {"PATH": os.environ["PATH"], "DJANGO_SETTINGS_MODULE": "config.settings", "VAR_DIR": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.stdout.split() == ["config.telemetry.traces"], done.stderr

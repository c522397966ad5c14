"""Traces of imports for OpenTelemetry: one for each import, with spans of its attempts, phases and chunks.

Nothing is sent, and nothing of OpenTelemetry imported here, unless OTEL_EXPORTER_OTLP_ENDPOINT is set. A span has ids,
counts and names of targets and tables. It never has values of rows: of an error it has the kind, not the text.
docs/operations.md lists the spans.
"""

import hashlib
import os
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any
from uuid import UUID

from django.conf import settings

from config.version import VERSION

# An attribute's name has this prefix, and then a word of docs/glossary.md.
PREFIX = "millrace."
FLUSH_MILLISECONDS = 5000

Attribute = str | int | float | bool


@dataclass(frozen=True)
class ImportTrace:
    """The trace of an import, and in it the span of one attempt. All hosts compute the same ids.

    `key` is the import's name in the ledger, and `attempt` counts from 1.
    """

    key: UUID
    attempt: int

    @property
    def trace_id(self) -> int:
        """128 bits of a digest: those of the key itself are not all random, and samplers compare them."""
        return self._digest("trace", 16)

    @property
    def span_id(self) -> int:
        """64 bits, the span of the attempt, which its phases and chunks have as their parent."""
        return self._digest(f"attempt {self.attempt}", 8)

    def _digest(self, of: str, size: int) -> int:
        return int.from_bytes(hashlib.sha256(f"millrace {of} {self.key}".encode()).digest()[:size])


@contextmanager
def span(name: str, trace: ImportTrace, **attributes: Attribute) -> Iterator[None]:
    """Time the block as a span of the attempt."""
    provider = _provider()
    if provider is None:
        yield
        return
    kept = _named(attributes)
    started = provider.get_tracer("millrace").start_span(name, context=_attempt(trace), attributes=kept)
    try:
        yield
    except Exception as error:
        _fail(started, type(error).__name__)
        raise
    finally:
        started.end()


def add_span(
    name: str,
    trace: ImportTrace,
    times: tuple[datetime, datetime],
    attributes: Mapping[str, Attribute],
    error: str = "",
) -> None:
    """Add a span of the attempt that has begun and ended at the `times`. `error`: its kind, or ""."""
    if provider := _provider():
        _add(provider, name, _attempt(trace), times, attributes, error)


def add_attempt(
    trace: ImportTrace, times: tuple[datetime, datetime], attributes: Mapping[str, Attribute], error: str = ""
) -> None:
    """Add the span of the whole attempt, which has ended. `error`: its kind, or ""."""
    provider = _provider()
    if provider is None:
        return
    from opentelemetry.context import Context

    token = _chosen.set(trace)
    try:
        _add(provider, "import", Context(), times, attributes, error)
    finally:
        _chosen.reset(token)


def are_sent() -> bool:
    """Whether this installation sends traces."""
    return bool(settings.OTEL_EXPORTER_OTLP_ENDPOINT)


def flush() -> None:
    """Send the spans of this process that wait, for at most FLUSH_MILLISECONDS."""
    if provider := _provider():
        provider.force_flush(FLUSH_MILLISECONDS)


_chosen: ContextVar[ImportTrace | None] = ContextVar("_chosen", default=None)


@cache
def _provider() -> Any:
    """OpenTelemetry's provider of this process; None if nothing is to be sent.

    It is made for the first span, because a process that a worker forks needs a thread of its own.
    """
    if not are_sent():
        return None
    from multiprocessing.util import Finalize

    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    os.environ.setdefault("OTEL_SERVICE_NAME", "millrace")
    about: dict[str, Attribute] = {
        "service.version": VERSION,
        "host.name": socket.gethostname(),
        "process.pid": os.getpid(),
    }
    provider = TracerProvider(resource=Resource.create(about), id_generator=_ids())
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    # A process of multiprocessing ends without the functions of atexit.
    Finalize(None, flush, exitpriority=0)
    return provider


def _ids() -> Any:
    """What chooses the ids of spans: the import's own for the span of an attempt, random ones for the others."""
    from opentelemetry.sdk.trace.id_generator import RandomIdGenerator

    class Ids(RandomIdGenerator):
        def generate_trace_id(self) -> int:
            chosen = _chosen.get()
            return chosen.trace_id if chosen else super().generate_trace_id()

        def generate_span_id(self) -> int:
            chosen = _chosen.get()
            return chosen.span_id if chosen else super().generate_span_id()

    return Ids()


def _attempt(trace: ImportTrace) -> Any:
    """The context in which a span has the attempt as its parent, on any host."""
    from opentelemetry import trace as api

    parent = api.SpanContext(trace.trace_id, trace.span_id, is_remote=True, trace_flags=api.TraceFlags(1))
    return api.set_span_in_context(api.NonRecordingSpan(parent))


def _add(
    provider: Any,
    name: str,
    context: Any,
    times: tuple[datetime, datetime],
    attributes: Mapping[str, Attribute],
    error: str,
) -> None:
    began, ended = (int(each.timestamp() * 1e6) * 1000 for each in times)
    tracer = provider.get_tracer("millrace")
    added = tracer.start_span(name, context=context, attributes=_named(attributes), start_time=began)
    if error:
        _fail(added, error)
    added.end(ended)


def _fail(failed: Any, kind: str) -> None:
    from opentelemetry.trace import Status, StatusCode

    failed.set_attribute("error.type", kind)
    failed.set_status(Status(StatusCode.ERROR, kind))


def _named(attributes: Mapping[str, Attribute]) -> dict[str, Attribute]:
    return {f"{PREFIX}{name}": value for name, value in attributes.items()}

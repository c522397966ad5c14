"""Reads one version of an object in ranges.

Each range is requested with If-Match and the object's ETag, so that the request fails if the object was replaced.
"""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Any

from importer.engine.units import MIB

# Bytes per request: the round trip takes as long as some megabytes. Two windows may be in memory.
WINDOW = 2 * MIB


@dataclass(frozen=True)
class ObjectVersion:
    """A version of an object in a bucket."""

    client: Any
    bucket: str
    key: str
    etag: str

    def size(self) -> int:
        """Its bytes. Raises ClientError if the object is missing or another one."""
        seen = self.client.head_object(Bucket=self.bucket, Key=self.key, IfMatch=self.etag)
        return int(seen["ContentLength"])

    def latest(self) -> "tuple[ObjectVersion, int]":
        """The version that is there now (an ETag is not needed), and its bytes. Raises as size() does."""
        seen = self.client.head_object(Bucket=self.bucket, Key=self.key)
        return replace(self, etag=str(seen["ETag"])), int(seen["ContentLength"])

    def read(self, offset: int, length: int) -> bytes:
        """`length` bytes from `offset` on. Raises as size() does."""
        wanted = f"bytes={offset}-{offset + length - 1}"
        answer = self.client.get_object(Bucket=self.bucket, Key=self.key, IfMatch=self.etag, Range=wanted)
        data: bytes = answer["Body"].read()
        return data


class ObjectRanges:
    """One version of an object as a Readable (engine/source/byte_source.py). The latest window stays in memory.

    From the second consecutive window on, the next one is requested while the current one is read. The first window
    requests none ahead, because a small chunk ends in it.
    """

    def __init__(self, request: Callable[[int, int], bytes], size: int, later: ExitStack) -> None:
        self._request = request
        self._begin, self._window = 0, b""
        self._ahead: Future[bytes] | None = None
        self._thread = ThreadPoolExecutor(1)
        # Do not wait for a pending request: its answer is not needed any more.
        later.callback(self._thread.shutdown, wait=False, cancel_futures=True)
        self.size = size

    def read(self, offset: int, length: int) -> bytes:
        """Up to `length` bytes from `offset` on, b"" at the end. Raises SourceProblem, SourceChanged."""
        length = min(length, self.size - offset)
        if length <= 0:
            return b""
        at = offset - self._begin
        if at < 0 or at + length > len(self._window):
            self._move(offset, length)
            at = 0
        return self._window[at : at + length]

    def _move(self, offset: int, length: int) -> None:
        """Move the window to `offset`, with at least `length` bytes."""
        consecutive = bool(self._window) and 0 <= offset - self._begin <= len(self._window)
        window = self._window[offset - self._begin :] if consecutive else b""
        ahead, self._ahead = self._ahead, None
        if consecutive and ahead:
            window += ahead.result()
        if len(window) < length:
            begin = offset + len(window)
            window += self._request(begin, min(max(length - len(window), WINDOW), self.size - begin))
        self._begin, self._window = offset, window
        end = offset + len(window)
        if consecutive and end < self.size:
            self._ahead = self._thread.submit(self._request, end, min(WINDOW, self.size - end))

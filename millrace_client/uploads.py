"""Uploads by tus (docs/api.md, Uploads): in parts with a checksum each, and resumed where the server has them."""

import base64
import hashlib
import os
import time
from collections.abc import Callable, Mapping
from typing import IO

import urllib3

from millrace_client.http import API, LONGEST_WAIT, Server
from millrace_client.problems import (
    BUSY,
    NOT_FOUND,
    TOO_MUCH,
    Problem,
    ServerProblem,
    ServerUnreachable,
    SourceChanged,
    SourceProblem,
)

PART_BYTES = 8 * 2**20  # a server takes at least 16 MiB, unless its settings say less
VERSION = {"Tus-Resumable": "1.0.0"}
PART_TYPE = "application/offset+octet-stream"
# Another part has arrived since; or this one has arrived with other bytes (config/serving, dashboard/new_import); or
# the store of a server with several hosts is away.
WRONG_OFFSET, TIMED_OUT, WRONG_CHECKSUM, AWAY = 409, 408, 460, 503
TRIES = 8  # of one part
RESUMED = (WRONG_OFFSET, TIMED_OUT, WRONG_CHECKSUM, AWAY)
# Seconds for which another request may be busy with an upload: after the last part a large file goes into the store.
BUSY_SECONDS = 900.0
LOOK_EVERY = 0.5  # seconds between two requests, if the server does not say

Answer = urllib3.BaseHTTPResponse
Look = Callable[[int], None]


class Upload:
    """One upload. `key` names it in the requests for plans and imports. `shared`: others may use it, too."""

    def __init__(self, server: Server, key: str, shared: bool = False) -> None:
        self._server, self.key, self.shared = server, key, shared
        self._path = f"{API}/uploads/{key}"

    @classmethod
    def begin(cls, server: Server, name: str, size: int) -> "Upload":
        """Announce a file of `size` bytes. Raises SourceProblem for an empty one, and ServerProblem."""
        if not size:
            raise SourceProblem("The file is empty.", name, "Name one with rows.")
        metadata = f"filename {base64.b64encode(name.encode()).decode()}"
        headers = {**VERSION, "Upload-Length": str(size), "Upload-Metadata": metadata}
        answer = _in_turn(lambda: server.send("POST", f"{API}/uploads", headers=headers))
        return cls(server, answer.headers["Location"].rpartition("/")[2])

    def arrived(self) -> int:
        """How many bytes the server has."""
        answer = _in_turn(lambda: self._server.send("HEAD", self._path, headers=VERSION))
        return int(answer.headers["Upload-Offset"])

    def send(self, file: IO[bytes], look: Look) -> None:
        """Send what the server does not have yet. `look` gets the bytes that have arrived, after each part.

        A part that was lost or damaged on the way is sent again, a few times. Raises ServerProblem,
        ServerUnreachable, and SourceChanged if the file becomes another one while it is sent.
        """
        size, changed = _state(file)
        known: int | None = None  # the bytes that have arrived
        failures = 0
        while known is None or known < size:
            try:
                offset = self.arrived() if known is None else known
                known, failures = self._send_part(file, offset) if offset < size else offset, 0
            except (ServerProblem, ServerUnreachable) as problem:
                known, failures = None, failures + 1
                if failures == TRIES or not _passes(problem):
                    raise
                time.sleep(min(LONGEST_WAIT, 2**failures / 4))
            else:
                look(known)
            if _state(file) != (size, changed):
                raise SourceChanged("The file has changed while it was uploaded.", advice="Upload it again.")

    def remove(self) -> None:
        """Delete what has arrived, unless it is gone already."""
        try:
            self._server.send("DELETE", self._path, headers=VERSION, repeatable=True)
        except ServerProblem as problem:
            if problem.status != NOT_FOUND:
                raise

    def _send_part(self, file: IO[bytes], offset: int) -> int:
        """Send one part; how many bytes the server has then."""
        file.seek(offset)
        part = file.read(PART_BYTES)
        headers = {**VERSION, "Content-Type": PART_TYPE, "Upload-Offset": str(offset), **_checksum(part)}
        answer = _in_turn(lambda: self._server.send("PATCH", self._path, part, headers))
        return int(answer.headers["Upload-Offset"])


def _checksum(part: bytes) -> Mapping[str, str]:
    digest = base64.b64encode(hashlib.sha256(part).digest()).decode()
    return {"Upload-Checksum": f"sha256 {digest}"}


def _state(file: IO[bytes]) -> tuple[int, int]:
    """Size in bytes and time of the last change."""
    now = os.fstat(file.fileno())
    return now.st_size, now.st_mtime_ns


def _in_turn(request: Callable[[], Answer]) -> Answer:
    """The answer to a request, which waits for its turn.

    That is while the person sends as much at once, or has begun as many uploads, as one may; and for BUSY_SECONDS while
    another request is busy with this upload. Neither has done anything. Raises ServerProblem, and ServerUnreachable.
    """
    until = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            return request()
        except ServerProblem as problem:
            if problem.status != TOO_MUCH and (problem.status != BUSY or time.monotonic() > until):
                raise
            time.sleep(problem.seconds or LOOK_EVERY)


def _passes(problem: Problem) -> bool:
    """Whether the same part may arrive a little later, after its turn was waited for."""
    return problem.status in RESUMED if isinstance(problem, ServerProblem) else problem.retryable


def may_follow(error: BaseException) -> bool:
    """Whether the rest of an upload may follow after this error: what has arrived is worth keeping."""
    return isinstance(error, ServerUnreachable) or (isinstance(error, Problem) and error.retryable)

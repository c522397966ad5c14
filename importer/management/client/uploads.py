"""Uploads by tus (docs/api.md, Uploads): in parts with a checksum each, and resumed where the server has them."""

import base64
import hashlib
import os
import time
from collections.abc import Callable, Mapping
from typing import IO, Any

from importer.engine.errors import Problem, SourceChanged, SourceProblem
from importer.engine.units import MIB
from importer.management.client.http import API, LONGEST_WAIT, PASSING, Server
from importer.management.client.problems import ServerProblem, ServerUnreachable

PART_BYTES = 8 * MIB  # a server takes at least 16 MiB, unless its settings say less
VERSION = {"Tus-Resumable": "1.0.0"}
PART_TYPE = "application/offset+octet-stream"
# Another part has arrived since; or this one has arrived with other bytes (config/serving, dashboard/new_import).
WRONG_OFFSET, TIMED_OUT, WRONG_CHECKSUM = 409, 408, 460
TRIES = 8  # of one part
RESUMED = {WRONG_OFFSET, TIMED_OUT, WRONG_CHECKSUM, *PASSING}

BUSY = 423
# Seconds until nobody sends an upload any more whose sender was killed just now; and between two questions for that.
LEFT_WITHIN, LOOK_EVERY = 10.0, 0.5

Look = Callable[[int], None]
# Takes over the upload of a key of whose beginning these values are; its new key.
TakeOver = Callable[[str, Mapping[str, Any]], str]


class Upload:
    """One upload. `key` names it in the requests for plans and imports."""

    def __init__(self, server: Server, key: str) -> None:
        self._server, self.key = server, key
        self._path = f"{API}/uploads/{key}"

    @classmethod
    def begin(cls, server: Server, name: str, size: int) -> "Upload":
        """Announce a file of `size` bytes. Raises SourceProblem for an empty one, and ServerProblem."""
        if not size:
            raise SourceProblem("The file is empty.", name, "Name one with rows.")
        metadata = f"filename {base64.b64encode(name.encode()).decode()}"
        headers = {**VERSION, "Upload-Length": str(size), "Upload-Metadata": metadata}
        answer = server.send("POST", f"{API}/uploads", headers=headers)
        return cls(server, answer.headers["Location"].rpartition("/")[2])

    @classmethod
    def left(cls, server: Server, file: IO[bytes], found: Mapping[str, Any], take_over: TakeOver) -> "Upload | None":
        """An upload that an earlier sender has left, if what has arrived of it is the beginning of this file.

        `found`: it as a list of files has it. None if it is another file, or if somebody sends it.
        """
        arrived = {"received": found["received"], "sha256": _beginning(file, found["received"])}
        until = time.monotonic() + LEFT_WITHIN
        while True:
            try:
                return cls(server, take_over(found["file"], arrived))
            except ServerProblem as problem:
                if problem.status != BUSY or time.monotonic() > until:
                    return None
            time.sleep(LOOK_EVERY)

    def arrived(self) -> int:
        """How many bytes the server has."""
        return int(self._server.send("HEAD", self._path, headers=VERSION).headers["Upload-Offset"])

    def send(self, file: IO[bytes], look: Look) -> None:
        """Send what the server does not have yet. `look` gets the bytes that have arrived, after each part.

        A part that was lost or damaged on the way is sent again, a few times. Raises ServerProblem,
        ServerUnreachable, and SourceChanged if the file becomes another one while it is sent.
        """
        size, changed = _state(file)
        offset, failures = self.arrived(), 0
        while offset < size:
            try:
                offset = self.arrived() if failures else offset
                offset, failures = self._send_part(file, offset), 0
            except (ServerProblem, ServerUnreachable) as problem:
                failures += 1
                if failures == TRIES or not _passes(problem):
                    raise
                time.sleep(min(LONGEST_WAIT, 2**failures / 4))
            else:
                look(offset)
            if _state(file) != (size, changed):
                raise SourceChanged("The file has changed while it was uploaded.", advice="Upload it again.")

    def remove(self) -> None:
        """Delete what has arrived."""
        self._server.send("DELETE", self._path, headers=VERSION, repeatable=True)

    def _send_part(self, file: IO[bytes], offset: int) -> int:
        """Send one part; how many bytes the server has then."""
        file.seek(offset)
        part = file.read(PART_BYTES)
        headers = {**VERSION, "Content-Type": PART_TYPE, "Upload-Offset": str(offset), **_checksum(part)}
        return int(self._server.send("PATCH", self._path, part, headers).headers["Upload-Offset"])


def _beginning(file: IO[bytes], length: int) -> str:
    """The SHA-256 of the first bytes, hexadecimal."""
    digest = hashlib.sha256()
    file.seek(0)
    while length and (piece := file.read(min(PART_BYTES, length))):
        digest.update(piece)
        length -= len(piece)
    return digest.hexdigest()


def _checksum(part: bytes) -> Mapping[str, str]:
    digest = base64.b64encode(hashlib.sha256(part).digest()).decode()
    return {"Upload-Checksum": f"sha256 {digest}"}


def _state(file: IO[bytes]) -> tuple[int, int]:
    """Size in bytes and time of the last change."""
    now = os.fstat(file.fileno())
    return now.st_size, now.st_mtime_ns


def _passes(problem: Problem) -> bool:
    """Whether the same part may arrive a little later."""
    return problem.retryable or (isinstance(problem, ServerProblem) and problem.status in RESUMED)

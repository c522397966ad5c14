"""Finds the upload of a file that an earlier command has left on the server: begun, being finished, or finished."""

import hashlib
import time
from collections.abc import Callable, Mapping
from typing import IO, Any

from millrace_client.http import Server
from millrace_client.problems import ServerProblem
from millrace_client.uploads import LOOK_EVERY, PART_BYTES, Upload

try:
    import xxhash
except ImportError:  # It is not pure Python. Without it, an upload that has arrived whole is not compared.
    xxhash = None  # type: ignore[assignment]

# Kinds of problems that end by themselves: what has arrived is read, to be compared; requests are too many.
WAITED_FOR = ("BeingCompared", "TooOften")
# Kinds of problems of an upload that somebody sends, or sent until just now: it is busy; more has arrived since.
SENT = ("UploadBusy", "WrongOffset")
LEFT_WITHIN = 10.0  # seconds until nobody sends an upload any more whose sender was killed just now


class EarlierUploads:
    """Compares uploads of the same name and size with one file."""

    def __init__(self, server: Server, call: Callable[..., Any], file: IO[bytes]) -> None:
        """`call` carries out an operation of the server by its name."""
        self._server, self._call, self._file = server, call, file
        self._digests: dict[tuple[str, int], str] = {}

    def of(self, found: Mapping[str, Any]) -> Upload | None:
        """The upload that a list of files has found, if what has arrived is this file or its beginning.

        Waits while the server finishes or compares it. None if it is another file, or if somebody sends it. Raises
        ServerUnreachable, and a ServerProblem that may pass: the file need not be sent again.
        """
        if not found["received"]:
            return None
        try:
            return self._whole(found) if found["received"] == found["size"] else self._rest(found)
        except ServerProblem as problem:
            if problem.retryable:
                raise
            return None

    def _whole(self, found: Mapping[str, Any]) -> Upload | None:
        if xxhash is None:
            return None
        upload = Upload(self._server, found["file"], shared=True)
        upload.arrived()  # Waits for who finishes it, and finishes what nobody does.
        now = self._call("show_file", file=upload.key)
        return upload if now["fingerprint"] == self._digest(xxhash.xxh3_128(), now["size"]) else None

    def _rest(self, found: Mapping[str, Any]) -> Upload | None:
        until = time.monotonic() + LEFT_WITHIN
        while found["received"] < found["size"]:
            arrived = {"received": found["received"], "sha256": self._digest(hashlib.sha256(), found["received"])}
            try:
                return Upload(self._server, self._call("continue_upload", arrived, file=found["file"])["file"])
            except ServerProblem as problem:
                if problem.kind not in (*WAITED_FOR, *SENT):
                    raise
                if problem.kind in SENT and time.monotonic() > until:
                    return None
                time.sleep(problem.seconds or LOOK_EVERY)
            found = self._call("show_file", file=found["file"])
        return self._whole(found)

    def _digest(self, digest: Any, length: int) -> str:
        """The digest of the file's first bytes, in hexadecimal; computed once."""
        wanted = (digest.name, length)
        if wanted not in self._digests:
            self._file.seek(0)
            while length and (piece := self._file.read(min(PART_BYTES, length))):
                digest.update(piece)
                length -= len(piece)
            self._digests[wanted] = digest.hexdigest()
        return self._digests[wanted]

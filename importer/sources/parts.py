"""The parts in which an upload arrives. docs/decisions.md, Uploads, has the design.

The bytes of a part go into the upload's file as they come, behind those that are there already, and count only after
Part.finish(). What `SourceFile.received` counts never changes again, so a reader may follow it while more arrives.
"""

import hashlib
import os
import threading
from contextlib import ExitStack, nullcontext
from dataclasses import dataclass
from typing import Protocol

from django.conf import settings
from django.contrib.auth.models import User
from django.utils import timezone

from importer.access import limits, places
from importer.engine.errors import DiskFull, SourceProblem, full_disk_as
from importer.engine.source.file_signature import NoCSV, refuse_other_kinds
from importer.models import SourceFile
from importer.sources.reservations import require_room
from importer.sources.room import is_full
from importer.sources.upload_storage import PIECE_BYTES
from importer.sources.uploads import (
    TooLarge,
    UploadBusy,
    UploadGone,
    WrongOffset,
    disk_full,
    give_up,
    locked,
    refresh,
    wake_followers,
)

ALGORITHMS = ("sha1", "sha256")  # tus 1.0 asks for SHA-1


class ChecksumMismatch(SourceProblem):
    """The part that arrived is not the one that was sent."""


class Stream(Protocol):
    """The bytes of an upload; `read` returns b"" at the end."""

    def read(self, size: int, /) -> bytes: ...


@dataclass(frozen=True)
class Checksum:
    """The checksum of a part, computed by its sender."""

    algorithm: str  # one of ALGORITHMS
    digest: bytes


class Part:
    """A part that is arriving: write() its bytes, finish() it, and close() it in any case.

    With a checksum a part counts whole or not at all; without one, all that has arrived counts.
    """

    def __init__(
        self, source: SourceFile, offset: int, length: int, checksum: Checksum | None, descriptor: int, held: ExitStack
    ) -> None:
        """Made by open_part(). `held` keeps the file's descriptor, the lock on it and the person's place."""
        self.source = source
        self.arrived = 0
        self._offset, self._length = offset, length
        self._checksum, self._digest = checksum, hashlib.new(checksum.algorithm) if checksum else None
        self._descriptor, self._held = descriptor, held
        self._problem: DiskFull | None = None
        # A server that stops closes the part, although a thread may still be about to write or to finish it.
        self._lock, self._closed = threading.Lock(), False

    def write(self, piece: bytes) -> bool:
        """Append a piece to the part; False if finish() will fail anyway."""
        with self._lock:
            if self._closed or self._problem or self.arrived + len(piece) > self._length:
                return False
            try:
                with full_disk_as(lambda: disk_full(self.source.name)):
                    self._write(piece)
            except DiskFull as problem:
                self._problem = problem
                return False
            return True

    def _write(self, piece: bytes) -> None:
        if is_full(settings.UPLOAD_DIR):
            raise disk_full(self.source.name)
        if self._digest:
            self._digest.update(piece)
        view = memoryview(piece)
        while view:
            written = os.pwrite(self._descriptor, view, self._offset + self.arrived)
            self.arrived += written
            view = view[written:]

    def finish(self) -> int:
        """Count what has arrived. Returns the bytes that the upload then has.

        Raises ChecksumMismatch, UploadGone after a removal, and UploadBusy while the server stops. Raises DiskFull, and
        NoCSV if the file begins like another kind of file; both remove the upload.
        """
        with self._lock:
            if self._closed:
                raise UploadBusy("The server is stopping.", self.source.name, "Try again in a moment.")
            try:
                if self._problem:
                    raise self._problem
                if self._digest and self.arrived < self._length:
                    return self._offset
                self._check()
                # Refuse a wrong file at its beginning, before all of it is uploaded.
                if self._offset == 0:
                    refuse_other_kinds(os.pread(self._descriptor, min(PIECE_BYTES, self.arrived), 0))
            except (DiskFull, NoCSV) as problem:
                problem.where = self.source.name
                give_up(self.source)
                raise
            return self._record()

    def _check(self) -> None:
        if self._checksum and self._digest and self._digest.digest() != self._checksum.digest:
            raise ChecksumMismatch(
                f"The {self._length:,} bytes from {self._offset:,} on arrived with another {self._checksum.algorithm}"
                " than they were sent with; nothing of them is kept.",
                where=self.source.name,
                advice="Send this part again. If that fails, too, reload the page and choose the file again.",
            )

    def _record(self) -> int:
        received = self._offset + self.arrived
        changed = SourceFile.objects.filter(pk=self.source.pk, received=self._offset).update(
            received=received,
            # update() does not apply auto_now.
            touched_at=timezone.now(),
        )
        if not changed:
            raise UploadGone(
                "The upload was removed while it was arriving.", self.source.name, "Upload the file again."
            )
        self.source.received = received
        wake_followers(self.source)
        return received

    def close(self) -> None:
        """Release the file and the person's place."""
        with self._lock:
            self._closed = True
            self._held.close()


def open_part(
    source: SourceFile, offset: int, length: int, checksum: Checksum | None = None, sender: User | None = None
) -> Part:
    """A part of `length` bytes that continues the upload at `offset`. A sender takes one of the places of the person.

    Raises WrongOffset unless `offset` is the present end, TooLarge past the announced size, UploadBusy while another
    part arrives, UploadGone after a removal, TooManyAtOnce while the sender has no free place. Raises DiskFull without
    room for the part, and removes the upload.
    """
    with ExitStack() as held:
        if sender:
            held.enter_context(places.take(limits.PARTS, sender) or nullcontext())
        descriptor = held.enter_context(locked(source))
        refresh(source)
        if offset != source.received:
            raise WrongOffset(f"Offset {offset} does not continue the {source.received} bytes received.", source.name)
        if offset + length > source.size:
            raise TooLarge(f"More bytes than the {source.size} announced.", source.name, "Upload the file again.")
        try:
            require_room(source.name, length, source)
        except DiskFull:
            give_up(source)
            raise
        return Part(source, offset, length, checksum, descriptor, held.pop_all())


def append(source: SourceFile, offset: int, stream: Stream, length: int) -> int:
    """Write at most `length` bytes of the stream at `offset`. Returns the bytes that the upload then has.

    If the stream ends early or breaks, the bytes written so far are kept. Raises as open_part() and finish() do.
    """
    part = open_part(source, offset, length)
    try:
        fill(part, stream, length)
        return part.finish()
    finally:
        part.close()


def fill(part: Part, stream: Stream, length: int) -> None:
    """Write at most `length` bytes of the stream into the part. The stream may end early or break."""
    while length > 0:
        try:
            piece = stream.read(min(PIECE_BYTES, length))
        except OSError:  # The connection broke. The bytes so far are valid, and the client will resume.
            return
        if not piece or not part.write(piece):
            return
        length -= len(piece)

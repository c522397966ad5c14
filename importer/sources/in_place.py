"""Files that stay where they are: recognised by their time and number on the disk, or else by their content."""

import errno
import os
import stat
from collections.abc import Callable
from pathlib import Path

from importer.engine.errors import SourceChanged, SourceProblem
from importer.models import SourceFile
from importer.sources.upload_storage import fingerprint


def status_of(path: Path) -> os.stat_result:
    """The status of a file. Raises SourceProblem if it is not a readable regular file."""
    where = str(path)
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)  # Non-blocking: opening a named pipe would wait.
    except OSError as error:
        advice = "Check the path." if error.errno == errno.ENOENT else "Check its permissions."
        raise SourceProblem(f"The file cannot be opened: {error.strerror}.", where, advice) from error
    try:
        status = os.fstat(descriptor)
    finally:
        os.close(descriptor)
    if not stat.S_ISREG(status.st_mode):
        if stat.S_ISDIR(status.st_mode):
            raise SourceProblem("This is a directory.", where, "Name one CSV file, or a pattern: DIRECTORY/*.csv.")
        advice = "Name one CSV file; or name -, and send the data to standard input: millrace load - ... < PIPE"
        raise SourceProblem("This is not a regular file.", where, advice)
    return status


def version_of(status: os.stat_result) -> str:
    """What differs once a file was written to or replaced. Without the device: hosts number those of one disk apart."""
    return f"{status.st_ino:x}-{status.st_size:x}-{status.st_mtime_ns:x}"


def require_same(source: SourceFile, keep_alive: Callable[[], object]) -> None:
    """Raise SourceChanged if a file that was registered in place has another content now.

    A file that was written again, or put back, is read once to compare its content; `keep_alive` is called during that.
    A connection recognises its own files, and uploads never change.
    """
    if source.owned or source.connection_id is not None or not source.found_etag:
        return
    now = version_of(status_of(source.file))
    if now == source.found_etag:
        return
    if fingerprint(source.file, keep_alive) != source.fingerprint:
        raise SourceChanged(
            "The file was written to or replaced after the import was planned: its content has changed.",
            where=source.name,
            advice="Wait until it is complete, then import it again.",
        )
    source.found_etag = now
    SourceFile.objects.filter(pk=source.pk).update(found_etag=now)

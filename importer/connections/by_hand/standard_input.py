"""Stores standard input as an upload: an import reads its file more than once."""

import sys
from typing import BinaryIO

from importer.access.acting import acting_user
from importer.connections.download import copy_stream
from importer.connections.listed_files import ListedFile
from importer.engine.errors import SourceProblem
from importer.models import SourceFile

NAME = "standard input"


def standard_input(stream: BinaryIO | None = None) -> SourceFile:
    """The bytes of standard input as an upload of the acting person, within the limits of uploads.

    Raises SourceProblem if it is a terminal or brings no byte, TooLarge, QuotaExceeded, DiskFull; nothing is kept then.
    """
    stream = stream or sys.stdin.buffer
    if stream.isatty():
        raise SourceProblem(
            "Standard input is a terminal.", NAME, "Pipe a file into the command, or name one instead of -."
        )
    return copy_stream(None, ListedFile(NAME, None, None), stream, None, acting_user())

"""Files that a command writes: new ones, whole or not at all."""

import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO

from importer.engine.errors import Problem


def write_new(path: Path, pieces: Iterable[bytes]) -> None:
    """Write the pieces into a new file, which is removed again if they are not complete.

    Raises Problem if the file exists or cannot be written.
    """
    try:
        file = path.open("xb")
    except FileExistsError as error:
        raise Problem("There is a file of that name.", str(path), "Choose another one.") from error
    except OSError as error:
        raise _unwritten(path, error) from error
    try:
        with file:
            for piece in pieces:
                _write(file, piece, path)
    except BaseException:
        path.unlink(missing_ok=True)
        raise


def write_document(document: Mapping[str, Any], path: Path) -> None:
    """Write a document as JSON into a new file. Raises Problem as write_new() does."""
    write_new(path, [f"{document_text(document)}\n".encode()])


def document_text(document: Mapping[str, Any]) -> str:
    """The document as JSON, as a file and a terminal have it."""
    return json.dumps(document, indent=2)


def write_rejects(pieces: Iterator[bytes], path: Path | None, *, as_json: bool) -> None:
    """Write rejected rows into a new file, or to standard output without a path. Raises Problem as write_new() does.

    `as_json`: whether standard output is for a document.
    """
    if path is None and as_json:
        raise Problem("With --json the rejected rows need a file.", advice="Add --out FILE, or leave --json out.")
    first = next(pieces, b"")  # A problem comes before the file is made.
    everything = chain([first], pieces)
    if path is None:
        sys.stdout.buffer.writelines(everything)
    else:
        write_new(path, everything)


def _write(file: BinaryIO, piece: bytes, path: Path) -> None:
    try:
        file.write(piece)
        file.flush()
    except OSError as error:
        raise _unwritten(path, error) from error


def _unwritten(path: Path, error: OSError) -> Problem:
    return Problem(f"The file cannot be written: {error.strerror or error}.", str(path), "Choose another place.")

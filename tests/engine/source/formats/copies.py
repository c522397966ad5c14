"""What files of other formats become in the working copy."""

from pathlib import Path
from typing import Any

from importer.engine.source.byte_source import open_source
from importer.engine.source.decoding import NO_LIMITS, plain_pieces
from importer.engine.source.profile.profile import profile_file
from importer.engine.source.records.fields import fields


def copied(path: Path, **known: Any) -> list[tuple[str, ...]]:
    """The records of the whole copy as text, its header first if it has one."""
    profile = profile_file(path, **known)
    with open_source(path) as fd:
        copy = b"".join(piece.data for piece in plain_pieces(fd, profile.packing, profile.dialect, NO_LIMITS))
    plain = profile.dialect.plain
    return [tuple(each.decode() for each in fields(line + b"\n", plain)) for line in copy.split(b"\n")[:-1]]

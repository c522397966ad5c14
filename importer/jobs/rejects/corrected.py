"""How a corrected reject file is read: as its import's file was, but people remove lines that are no rows."""

import re
from dataclasses import replace

from importer.engine.source.byte_source import SourceLocation, open_source, read_at, size_of
from importer.engine.source.decoding import read_head
from importer.engine.source.dialect import Dialect
from importer.engine.source.profile.sample import SAMPLE_BYTES
from importer.models import ImportJob

# What is not compared with the import's file: rejected rows may have any quotes, and no footer but the stand-in.
HELD = ("encoding", "member", "quote", "skip_footer")
# A line that stands in for one of the footer (downloads.py); a spreadsheet adds a delimiter for each empty cell.
STAND_IN = "-"
TAIL_BYTES = 4096


def dialect_of_corrected(job: ImportJob, path: SourceLocation, encoding: str = "") -> Dialect:
    """The dialect of a corrected reject file of the job. It leaves out no row as a footer, unless the file is packed.

    `encoding`: the file's own, where it is another one than the job's. Raises SourceProblem if the file cannot be read.
    """
    dialect = job.file_dialect.of_rejects
    dialect = replace(dialect, encoding=encoding) if encoding else dialect
    if dialect.skip_footer and not _ends_with_stand_ins(path, dialect):
        return replace(dialect, skip_footer=0)
    return dialect


def _ends_with_stand_ins(path: SourceLocation, dialect: Dialect) -> bool:
    with open_source(path) as fd:
        if read_head(fd, SAMPLE_BYTES, dialect.member).packing:
            return True
        size = size_of(fd)
        # Of an encoding with two bytes for a character, no half of one is read: TAIL_BYTES is even.
        begin = max(0, size - size % 2 - TAIL_BYTES)
        text = read_at(fd, size - begin, begin).decode(dialect.encoding, "replace")
    lines = re.split(r"\r\n|\r|\n", text.rstrip())[-dialect.skip_footer :]
    return all(line.replace(dialect.delimiter, "").strip(f'{dialect.quote} "') == STAND_IN for line in lines)

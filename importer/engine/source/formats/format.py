"""What a format declares: how it is recognised, what it knows of a file, and how its records are converted."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from importer.engine.errors import RecordUnreadable
from importer.engine.source.compression import Piece
from importer.engine.source.decisions import Decision
from importer.engine.source.dialect import Dialect
from importer.engine.source.formats.contents import Contents

# The type of a field that the file states to be a text, whose length the values decide.
ANY_TEXT = "*"
# The most columns of a table in InnoDB is 1,017, and in MyISAM and MariaDB 4,096.
MOST_FIELDS = 4096


@dataclass(frozen=True)
class Layout:
    """What a format knows of a file before its records are converted.

    `fields`: the names of the fields. `chosen`: fields of Dialect that the file decides, such as the sheet.
    `decisions`: about these, with a question where the file leaves a choice. `refused`: the problem of the first row
    that cannot be read, of those that the format has looked at. `types`: the column type that the file states for each
    field, ANY_TEXT for a text of unknown length, "" where it states none that a table has; () if it states none at all.
    `of_bytes`: the positions (from 0) of the fields that have bytes, which the copy has as hexadecimal digits after 0x.
    `sampled`: as Dialect has it. `primary_key`: the positions (from 0) of the fields of the key that the file states.
    """

    fields: tuple[str, ...]
    chosen: Mapping[str, Any] = field(default_factory=dict)
    decisions: tuple[Decision, ...] = ()
    notes: tuple[str, ...] = ()
    refused: RecordUnreadable | None = None
    types: tuple[str, ...] = ()
    of_bytes: frozenset[int] = frozenset()
    sampled: tuple[str, ...] = ()
    primary_key: tuple[int, ...] = ()


@dataclass(frozen=True)
class Wanted:
    """What is known of an import before its file is read.

    `stated`: fields of Dialect that a user has stated. `columns`: the names of the table's columns, () without a table.
    """

    stated: Mapping[str, Any]
    columns: tuple[str, ...] = ()


def later(module: str, name: str) -> Callable[..., Any]:
    """A function of a module that its first call imports, because most processes read no file of its format."""

    def call(*arguments: Any) -> Any:
        return getattr(import_module(module), name)(*arguments)

    return call


@dataclass(frozen=True)
class Format:
    """A format of files.

    - `begins`: whether a file with these first bytes, unpacked, is of this format.
    - `layout`: reads what the format knows of a file.
    - `convert`: the records for the working copy, without its header, each in one piece.
    - `options`: the fields of Dialect that a user may state for it.
    - `unknown`: what the format does not tell of the values, in a sentence.
    - `encoding_of`: the encoding that a file states in its first bytes, "" for none.

    `layout` and `convert` raise SourceProblem, with the place, for a file that cannot be read.
    """

    name: str
    label: str
    endings: tuple[str, ...]
    begins: Callable[[bytes], bool]
    layout: Callable[[Contents, Wanted], Layout]
    convert: Callable[[Contents, Dialect], Iterator[Piece]]
    options: tuple[str, ...] = ()
    unknown: str = ""
    encoding_of: Callable[[bytes], str] = lambda _head: ""

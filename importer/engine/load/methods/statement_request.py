"""The values from which a method renders its statement."""

from collections.abc import Sequence
from dataclasses import dataclass

from importer.engine.mapping.columns import ColumnMapping, GeneratedColumn
from importer.engine.plan.server_file import ServerFile
from importer.engine.schema.table import Table
from importer.engine.source.dialect import Dialect


@dataclass(frozen=True)
class StatementRequest:
    """Table, dialect and mapping of a statement, and its variant.

    With an enclosing quote and no escape, the server reads the unquoted word NULL as SQL's NULL (manual, LOAD DATA:
    "the word NULL"), and nothing else. `keep_null_word` converts it back to the text in the file.

    `traced` gives each row a warning with its number, before the server's own warnings about that row: the server
    reports duplicate keys and foreign keys without a row number (server-behaviour.md, LOAD DATA LOCAL). Run RESET_TRACE
    before it. The stored values are the same.

    `assignments` set columns that are not in the mapping, as `column = value`. `as_bytes` renders no character set: the
    server stores the bytes in the columns' own. `folder` is the folder of the server's pipes, `file` the file that it
    reads itself. `assigns`: a LOAD DATA gets a SET in any case (decisions/load_statements.py says why).
    """

    table: Table
    dialect: Dialect
    mapping: Sequence[ColumnMapping]
    fillings: Sequence[GeneratedColumn] = ()
    assignments: Sequence[str] = ()
    folder: str = ""
    file: ServerFile | None = None
    assigns: bool = False
    keep_null_word: bool = False
    traced: bool = False
    as_bytes: bool = False

"""What a method's statement is rendered from."""

from collections.abc import Sequence
from dataclasses import dataclass

from importer.engine.mapping.columns import ColumnMapping, GeneratedColumn
from importer.engine.schema.table import Table
from importer.engine.source.dialect import Dialect


@dataclass(frozen=True)
class StatementRequest:
    """The rows of a dialect and a mapping into a table, and the variant of the statement.

    With an enclosing quote and no escape, the server makes SQL's NULL of the unquoted word NULL (manual, LOAD DATA:
    "the word NULL"), and of nothing else. `keep_null_word` turns it back into the text that stands in the file.

    `traced` gives each row a warning with its number, before the server's own warnings about storing that row: so a
    duplicate key or a foreign key, which the server reports without a row, can be told from one another
    (server-behaviour.md, LOAD DATA LOCAL). Run RESET_TRACE before it. The values that arrive are the same.

    `also` are assignments to columns that no field goes into. `as_bytes` tells the server no character set: it stores
    the bytes in the columns' own. `folder` is where the server's pipes lie.
    """

    table: Table
    dialect: Dialect
    mapping: Sequence[ColumnMapping]
    fillings: Sequence[GeneratedColumn] = ()
    also: Sequence[str] = ()
    folder: str = ""
    keep_null_word: bool = False
    traced: bool = False
    as_bytes: bool = False

"""LOAD DATA, however the bytes get to the server: the rendering that both of its methods share."""

from collections.abc import Sequence
from dataclasses import replace

from importer.engine.load.methods.field_expressions import VARIABLES, filled, numbers, readings, with_trace
from importer.engine.mapping.columns import ColumnMapping, GeneratedColumn
from importer.engine.mysql.quoting import quote_name, quote_text
from importer.engine.schema.table import Table
from importer.engine.source.dialect import Dialect


def into_table(
    table: Table,
    dialect: Dialect,
    mapping: Sequence[ColumnMapping],
    fillings: Sequence[GeneratedColumn] = (),
    *,
    keep_null_word: bool = False,
    traced: bool = False,
    also: Sequence[str] = (),
    as_bytes: bool = False,
) -> str:
    """The statement from INTO TABLE on; each field of the file, mapped or not, is read into something.

    Where a filling needs the number of the record or its line, the feed puts them before each record: see numbers().

    With an enclosing quote and no escape, the server makes SQL's NULL of the unquoted word NULL (manual, LOAD DATA:
    "the word NULL"), and of nothing else. `keep_null_word` turns it back into the text that stands in the file.

    `traced` gives each row a warning with its number, ahead of the server's own warnings about storing that row: so
    a duplicate key or a foreign key, which the server reports without a row, can be told from one another
    (server-behaviour.md, LOAD DATA LOCAL). Run RESET_TRACE before it. The values that arrive are the same.

    `also` are assignments to columns that no field goes into.

    `as_bytes` tells the server no character set: it stores the bytes in the columns' own.
    """
    found = readings(mapping, table, keep_null_word=keep_null_word)
    if traced:
        found = with_trace(found)
    if fillings or also or any(each.indirect for each in found):
        found = [replace(each, numbering=each.column is not None and each.column.auto_increment) for each in found]
    assignments = [f"{each.name} = {each.value}" for each in found if each.indirect]
    assignments += [f"{quote_name(each.column)} = {filled(each)}" for each in fillings]
    assignments += also
    targets = [VARIABLES[each] for each in numbers(fillings)]
    targets += ["@skipped" if not each.column else each.variable if each.indirect else each.name for each in found]
    # What the server takes for a field after a trailing delimiter is empty (blocks.py sees to that).
    targets += ["@skipped"] if dialect.sent.trailing_delimiter else []
    return (
        f"INTO TABLE {quote_name(table.schema)}.{quote_name(table.name)}\n"
        f"CHARACTER SET {'binary' if as_bytes else 'utf8mb4'}\n"
        f"{dialect.fields_and_lines(quote_text)}\n({', '.join(targets)})"
        + ("\nSET " + ",\n    ".join(assignments) if assignments else "")
    )

"""LOAD DATA LOCAL INFILE: the server parses the bytes as they are in the file."""

from collections.abc import Sequence

from importer.engine.connection import FEED_NAME, Feed, LoaderConnection, execute
from importer.engine.dialect import Dialect
from importer.engine.mapping import ColumnMapping
from importer.engine.methods import Report
from importer.engine.sql import quote_name, quote_text


def statement(schema: str, table: str, dialect: Dialect, mapping: Sequence[ColumnMapping]) -> str:
    """The statement for every chunk of a job; each field of the file, mapped or not, is read into something."""
    targets = [_target(position, each) for position, each in enumerate(mapping)]
    assignments = [
        f"{quote_name(each.column)} = {_expression(position, each)}"
        for position, each in enumerate(mapping)
        if _needs_expression(each)
    ]
    return (
        f"LOAD DATA LOCAL INFILE {quote_text(FEED_NAME)} INTO TABLE {quote_name(schema)}.{quote_name(table)}\n"
        f"CHARACTER SET utf8mb4\n{dialect.fields_and_lines(quote_text)}\n({', '.join(targets)})"
        + ("\nSET " + ",\n    ".join(assignments) if assignments else "")
    )


def load(connection: LoaderConnection, statement: str, feed: Feed) -> Report:
    """Run the statement on the bytes of `feed`. Raises what the feed raised, or the server's own error."""
    connection.feed, connection.feed_error = feed, None
    try:
        execute(connection, statement)
    finally:
        connection.feed = None
        if connection.feed_error:
            raise connection.feed_error
    return Report.from_info(connection.info())


def _needs_expression(mapping: ColumnMapping) -> bool:
    return bool(mapping.column and (mapping.null_markers or mapping.datetime_format))


def _target(position: int, mapping: ColumnMapping) -> str:
    if not mapping.column:
        return "@skipped"
    return f"@field{position + 1}" if _needs_expression(mapping) else quote_name(mapping.column)


def _expression(position: int, mapping: ColumnMapping) -> str:
    value = f"@field{position + 1}"
    text = value
    if mapping.null_markers:
        # Compared as bytes: as text, "na" and "NA " would equal "NA" in most collations, on MariaDB even beside a
        # _binary literal, because the variable's collation wins.
        markers = ", ".join(f"_binary{quote_text(marker)}" for marker in mapping.null_markers)
        text = f"IF(CAST({value} AS BINARY) IN ({markers}), NULL, {value})"
    if mapping.datetime_format:
        return f"STR_TO_DATE({text}, {quote_text(mapping.datetime_format)})"
    return text

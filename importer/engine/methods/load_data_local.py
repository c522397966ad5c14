"""LOAD DATA LOCAL INFILE: the server asks this end for the bytes and parses them as they are in the file."""

from collections.abc import Sequence

from importer.engine.connection import FEED_NAME, Feed, LoaderConnection, execute
from importer.engine.dialect import Dialect
from importer.engine.mapping import ColumnMapping, Filling
from importer.engine.methods import Report
from importer.engine.methods.load_data import into_table
from importer.engine.sql import quote_text
from importer.engine.table import Table

_LEADING = f"LOAD DATA LOCAL INFILE {quote_text(FEED_NAME)} "


def statement(
    table: Table,
    dialect: Dialect,
    mapping: Sequence[ColumnMapping],
    fillings: Sequence[Filling] = (),
    *,
    keep_null_word: bool = False,
    traced: bool = False,
    also: Sequence[str] = (),
    as_bytes: bool = False,
) -> str:
    """The statement for every chunk of a job; arguments as those of load_data.into_table()."""
    return _LEADING + into_table(
        table, dialect, mapping, fillings, keep_null_word=keep_null_word, traced=traced, also=also, as_bytes=as_bytes
    )


def replacing(statement: str) -> str:
    """The same statement with REPLACE: a row takes the place of those with its keys, and a bad row ends it."""
    return f"{_LEADING}REPLACE {statement.removeprefix(_LEADING)}"


def load(connection: LoaderConnection, statement: str, feed: Feed) -> Report:
    """Run the statement on the bytes of `feed`. Raises what the feed raised, or the server's own error."""
    connection.feed, connection.feed_error = feed, None
    try:
        execute(connection, statement)
    finally:
        connection.feed = None
        if connection.feed_error:
            raise connection.feed_error
    return Report.of_load_data(connection)

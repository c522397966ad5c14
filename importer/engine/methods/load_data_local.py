"""LOAD DATA LOCAL INFILE: the server parses the bytes as they are in the file."""

from collections.abc import Sequence
from dataclasses import dataclass

from importer.engine.connection import FEED_NAME, Feed, LoaderConnection, execute
from importer.engine.dialect import Dialect
from importer.engine.mapping import ColumnMapping
from importer.engine.methods import Report
from importer.engine.sql import quote_name, quote_text


def statement(
    schema: str, table: str, dialect: Dialect, mapping: Sequence[ColumnMapping], *, keep_null_word: bool = False
) -> str:
    """The statement for every chunk of a job; each field of the file, mapped or not, is read into something.

    With an enclosing quote and no escape, the server makes SQL's NULL of the unquoted word NULL (manual, LOAD DATA:
    "the word NULL"), and of nothing else. `keep_null_word` turns it back into the text that stands in the file.
    """
    readings = [_Reading(position, each, keep_null_word) for position, each in enumerate(mapping)]
    assignments = [f"{quote_name(each.mapping.column)} = {each.expression}" for each in readings if each.indirect]
    targets = ", ".join(each.target for each in readings)
    return (
        f"LOAD DATA LOCAL INFILE {quote_text(FEED_NAME)} INTO TABLE {quote_name(schema)}.{quote_name(table)}\n"
        f"CHARACTER SET utf8mb4\n{dialect.fields_and_lines(quote_text)}\n({targets})"
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


@dataclass(frozen=True)
class _Reading:
    """How one field gets from the file into its column."""

    position: int
    mapping: ColumnMapping
    keep_null_word: bool

    @property
    def indirect(self) -> bool:
        """Whether it passes through a variable and an expression."""
        read = self.mapping.null_markers or self.mapping.datetime_format or self.keep_null_word
        return bool(self.mapping.column and read)

    @property
    def target(self) -> str:
        if not self.mapping.column:
            return "@skipped"
        return self.variable if self.indirect else quote_name(self.mapping.column)

    @property
    def variable(self) -> str:
        return f"@field{self.position + 1}"

    @property
    def expression(self) -> str:
        value = f"IFNULL({self.variable}, 'NULL')" if self.keep_null_word else self.variable
        text = value
        if self.mapping.null_markers:
            # Compared as bytes: as text, "na" and "NA " would equal "NA" in most collations, on MariaDB even beside a
            # _binary literal, because the variable's collation wins.
            markers = ", ".join(f"_binary{quote_text(marker)}" for marker in self.mapping.null_markers)
            text = f"IF(CAST({value} AS BINARY) IN ({markers}), NULL, {value})"
        if self.mapping.datetime_format:
            return f"STR_TO_DATE({text}, {quote_text(self.mapping.datetime_format)})"
        return text

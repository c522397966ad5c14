"""The ways to put a chunk's rows into a table, one file each. All of them report in LOAD DATA's own words.

Each has `statement(...)`, the SQL that the plan shows; `replacing(statement)`, the same for REPLACE; and
`load(connection, statement, feed, ...)`, which sends the feed's records and gives a Report; `choice` knows them all.
"""

import re
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace

from importer.engine.mysql.connection import Connection, Feed, LoaderConnection

_INFO = re.compile(r"Records: (\d+)\s+Deleted: (\d+)\s+Skipped: (\d+)\s+Warnings: (\d+)")

# Warnings that are taken from the client library at once.
FETCHED = 1000

# Level, error number and message: a line of SHOW WARNINGS.
ServerWarningRow = tuple[str, int, str]


@dataclass(frozen=True)
class Report:
    """What the server says it did with the records it was sent.

    `said` are the lines of its warnings, rows numbered through all statements: of the server's list, which it cuts,
    so there may be fewer than `warnings`.
    """

    records: int
    deleted: int = 0
    skipped: int = 0
    warnings: int = 0
    said: tuple[ServerWarningRow, ...] = ()

    @classmethod
    def from_info(cls, info: bytes | str | None, said: tuple[ServerWarningRow, ...] = ()) -> "Report":
        """Read mysql_info()'s line for LOAD DATA (manual, mysql_info())."""
        text = info.decode() if isinstance(info, bytes) else info or ""
        found = _INFO.search(text)
        if not found:
            return cls(records=-1, said=said)
        records, deleted, skipped, warnings = map(int, found.groups())
        return cls(records, deleted, skipped, warnings, said)

    @classmethod
    def of_load_data(cls, connection: Connection) -> "Report":
        """About the LOAD DATA that the connection has just run."""
        report = cls.from_info(connection.info())
        return replace(report, said=lines(connection)) if report.warnings else report


def lines(connection: Connection) -> tuple[ServerWarningRow, ...]:
    """The warnings of the statement just run; the server keeps at most max_error_count of them (65,535)."""
    # Not show_warnings(), which holds all of them three times: there may be two for each row.
    connection.query("SHOW WARNINGS")
    result = connection.use_result()
    found: list[ServerWarningRow] = []
    while rows := result.fetch_row(FETCHED):
        found += ((sys.intern(level), code, _text(message)) for level, code, message in rows)
    return tuple(found)


def _text(message: str | bytes) -> str:
    return message.decode(errors="replace") if isinstance(message, bytes) else message


# Runs a statement on the bytes of a feed.
Load = Callable[[LoaderConnection, str, Feed], Report]

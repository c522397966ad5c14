"""The methods that load a chunk's rows, one module each. All of them report as LOAD DATA does.

Each has `statement(...)`, the SQL that the plan shows; `replacing(statement)`, its variant with REPLACE; and
`loader(request)`, the function that sends the feed's records and returns a Report. `registry` lists them.
"""

import re
import sys
from collections.abc import Callable
from dataclasses import dataclass

from importer.engine.mysql.connection import MAX_ERROR_COUNT, Connection, Feed, LoaderConnection

_INFO = re.compile(r"Records: (\d+)\s+Deleted: (\d+)\s+Skipped: (\d+)\s+Warnings: (\d+)")

# Level, error number and message: a row of SHOW WARNINGS.
ServerWarningRow = tuple[str, int, str]


@dataclass(frozen=True)
class Report:
    """The server's report about the records that it was sent.

    `unchanged` records, sent with REPLACE, were equal to existing rows (methods/equal_rows.py). `warning_rows` are
    those of SHOW WARNINGS, with record numbers through all statements. The server limits its list, so there may be
    fewer than `warnings`.
    """

    records: int
    deleted: int = 0
    skipped: int = 0
    warnings: int = 0
    warning_rows: tuple[ServerWarningRow, ...] = ()
    unchanged: int = 0

    @classmethod
    def of_load_data(cls, connection: Connection) -> "Report":
        """The report about the LOAD DATA that the connection has just run; records are -1 if the server gave none."""
        counts = _INFO.search(info_text(connection))
        if not counts:
            return cls(records=-1)
        records, deleted, skipped, warnings = map(int, counts.groups())
        return cls(records, deleted, skipped, warnings, read_warning_rows(connection) if warnings else ())


def info_text(connection: Connection) -> str:
    """The server's text about the last statement (manual, mysql_info()); "" if it gave none."""
    info: bytes | str | None = connection.info()
    return info.decode() if isinstance(info, bytes) else info or ""


def read_warning_rows(connection: Connection) -> tuple[ServerWarningRow, ...]:
    """The warnings of the last statement; the server keeps at most max_error_count of them (65,535)."""
    # Not show_warnings(), which keeps three copies in memory: there may be two warnings a row.
    rows = connection.stream("SHOW WARNINGS", MAX_ERROR_COUNT)
    return tuple((sys.intern(level), code, _text(message)) for level, code, message in rows)


def _text(message: str | bytes) -> str:
    return message.decode(errors="replace") if isinstance(message, bytes) else message


# Runs a statement with the bytes of a feed.
Load = Callable[[LoaderConnection, str, Feed], Report]

"""The server's warnings about a LOAD DATA: which row, which column, and why."""

import re
from dataclasses import dataclass

from importer.engine.connection import Connection

_ROW = re.compile(r"\s*\bat row (\d+)$|^Row (\d+) ")
# 'c' on MySQL, `db`.`table`.`c` on MariaDB.
_COLUMN = re.compile(r"\bcolumn ['`](?:.*`\.`)?([^'`]+)['`]", re.IGNORECASE)

# Too few fields, and too many.
WRONG_COUNT = (1261, 1262)


@dataclass(frozen=True)
class ServerWarning:
    """One line of SHOW WARNINGS. `row` is 1-based within the statement; 0 where the server does not say."""

    code: int
    reason: str
    row: int = 0
    column: str = ""

    @classmethod
    def from_message(cls, code: int, message: str) -> "ServerWarning":
        row = _ROW.search(message)
        column = _COLUMN.search(message)
        return cls(
            code=code,
            reason=_ROW.sub(lambda found: "The row " if found[2] else "", message).strip(),
            row=int(row[1] or row[2]) if row else 0,
            column=column[1] if column else "",
        )


def read_warnings(connection: Connection) -> list[ServerWarning]:
    """The warnings of the statement just run; the server keeps at most max_error_count of them (65,535)."""
    return [ServerWarning.from_message(code, _text(message)) for _, code, message in connection.show_warnings()]


def _text(message: bytes | str) -> str:
    return message.decode(errors="replace") if isinstance(message, bytes) else message

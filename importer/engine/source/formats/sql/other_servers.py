"""Dumps of other database systems: they are refused by name, because their texts, types and rows are written otherwise.

The server would read their backslashes as escapes, and COPY blocks and INSERTs are not told apart safely.
"""

import re
from dataclasses import dataclass

from importer.engine.source.formats.sql.tokens import SqlText


@dataclass(frozen=True)
class OtherServer:
    """A system: a comment and a statement that only its dumps have, and how it writes a file that can be read."""

    name: str
    comment: re.Pattern[bytes] | None
    statement: re.Pattern[bytes]
    advice: str


OTHERS = (
    OtherServer(
        "PostgreSQL",
        re.compile(rb"^-- PostgreSQL database (?:cluster )?dump\s*$", re.MULTILINE),
        re.compile(rb"SET\s+standard_conforming_strings\b", re.IGNORECASE),
        r"Write the table as CSV instead, in psql: \copy TABLE TO 'FILE.csv' CSV HEADER",
    ),
    OtherServer(
        "SQLite",
        None,
        re.compile(rb"PRAGMA\s+foreign_keys\b", re.IGNORECASE),
        "Write the table as CSV instead: sqlite3 -csv -header DATABASE 'SELECT * FROM TABLE' > FILE.csv",
    ),
)


# The first words of their statements.
_WORDS = ("SET", "PRAGMA")


def refuse_other_servers(text: SqlText, gap: bytes, word: str) -> None:
    """Raise SourceProblem if the comments before the next statement, or the statement, are those of another system.

    `word`: the first one of the statement.
    """
    if word not in _WORDS and b"--" not in gap:
        return
    for each in OTHERS:
        if (each.comment and each.comment.search(gap)) or text.peek(each.statement):
            what = f"This is a dump of {each.name}, and only those of MySQL and MariaDB are read."
            raise text.problem(what, each.advice)

"""The scope of mode sync: a condition on the table's own columns. Rows for which it is not true are never touched.

The condition stands in statements as it was given. So it may have only what is listed here: columns, numbers, texts,
comparisons, and functions of the server that change nothing and read nothing else. What the server would read as one
thing and this reader as another is refused: backslashes, double quotes, comments, a column or a space before a bracket.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

import MySQLdb

from importer.engine.errors import Problem
from importer.engine.mysql.connection import Connection, execute
from importer.engine.mysql.error_messages import message_of
from importer.engine.mysql.quoting import quote_name, quote_table
from importer.engine.schema.table import Table


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Words that may stand before a bracket with a space between, and those that may not.
_BEFORE_BRACKETS = _names("and or not xor in between like when then else case div mod interval is")
_WORDS = _BEFORE_BRACKETS | _names(
    "null true false unknown end date time timestamp microsecond second minute hour day week month quarter year"
)
# A name directly before its bracket is the server's own function, whatever stored functions there are (manual, Function
# Name Parsing and Resolution). None of these has an effect, waits, or reads anything but its arguments and the clock.
_FUNCTIONS = _names(
    "abs ceil ceiling floor round truncate mod sign greatest least coalesce ifnull nullif if isnull"
    " lower upper lcase ucase left right substring substr mid length char_length character_length trim ltrim rtrim"
    " concat concat_ws replace reverse instr locate field find_in_set crc32"
    " year quarter month week day hour minute second dayofmonth dayofweek dayofyear weekday date time last_day"
    " datediff timestampdiff date_add date_sub curdate current_date now current_timestamp utc_date utc_timestamp"
    " unix_timestamp from_unixtime"
)
_WHERE = re.compile(r"\s*(where\b\s*)?", re.IGNORECASE)
_TOKEN = re.compile(
    r"""(?P<space>[ \t\r\n]+)
    |(?P<text>'(?:[^'\\\x00]|'')*')
    |`(?P<quoted>(?:[^`\x00]|``)+)`
    |(?P<number>[0-9]+(?:\.[0-9]+)?)(?![\w$.])
    |(?P<word>[^\W\d][\w$]*)(?![\w$'.])
    |(?P<open>\()|(?P<close>\))
    |(?P<sign><=>|<=|>=|<>|!=|[=<>+%,]|-(?!-)|/(?!\*)|\*(?!/))""",
    re.VERBOSE,
)


class Scope(NamedTuple):
    """A condition as it stands in statements, and the columns that it has."""

    sql: str
    columns: tuple[str, ...]


def read_scope(text: str, table: Table) -> Scope:
    """The condition in a text. Raises Problem for what is no condition on the table's stored columns alone."""
    names = {column.name.lower(): column for column in table.columns}
    columns: dict[str, None] = {}
    sql: list[str] = []
    depth, before = 0, ""
    for kind, token in _tokens(text):
        word, written = token.lower(), token
        depth += {"open": 1, "close": -1}.get(kind, 0)
        if depth < 0:
            raise _refused(text, "closes a bracket that it has not opened")
        if kind == "function" and word not in _FUNCTIONS:
            raise _refused(text, f"calls {token}, which it may not")
        if kind == "open" and before:
            raise _refused(text, f"has {before} before a bracket")
        if kind in ("word", "quoted"):
            if column := names.get(word):
                columns[column.name] = None
            keyword = kind == "word" and word in _WORDS
            if not column and not keyword:
                raise _refused(text, f"has {token}, which is no column of {table.name}")
            # In quotes: a column that is named like a word of SQL stays a column.
            written = token if keyword or not column else quote_name(column.name)
            before = "" if kind == "word" and word in _BEFORE_BRACKETS else token
        elif kind != "space":
            before = ""
        sql.append(written)
    if depth:
        raise _refused(text, "does not close a bracket")
    if not columns:
        raise _refused(text, f"has no column of {table.name}")
    for name in columns:
        if table.column(name).generated:
            raise _refused(text, f"has {name}, which the server computes from other columns")
    return Scope("".join(sql), tuple(columns))


def _tokens(text: str) -> Iterator[tuple[str, str]]:
    """The kinds and texts of the tokens; a word that has its bracket at once is a function."""
    at = _WHERE.match(text).end()  # type: ignore[union-attr]
    while at < len(text):
        match = _TOKEN.match(text, at)
        if not match:
            raise _refused(text, f"cannot be read from {text[at : at + 20]!r} on")
        at, kind = match.end(), str(match.lastgroup)
        token = match[kind].replace("``", "`") if kind == "quoted" else match[kind]
        word = token.lower()
        if kind == "word" and text[at : at + 1] == "(" and word not in _BEFORE_BRACKETS - _FUNCTIONS:
            kind = "function"
        yield kind, token


def require_understood(connection: Connection, table: Table, text: str) -> None:
    """Raise Problem, with the server's words, if it does not take the condition in a text as one truth value."""
    condition = read_scope(text, table).sql
    target = quote_table(table.schema, table.name)
    try:
        execute(connection, f"EXPLAIN SELECT 1 FROM {target} AS t WHERE ({condition}) IS TRUE")
    except MySQLdb.Error as error:
        raise _refused(text, f"is not understood by the server: {message_of(error).rstrip('.')}") from error


def _refused(text: str, why: str) -> Problem:
    return Problem(
        f"The scope {text!r} {why}.",
        advice="Give a condition on the table's own columns, such as \"shop = 3 AND day >= '2024-01-01'\": comparisons,"
        " AND, OR, NOT, IN, BETWEEN, LIKE, IS NULL, functions of texts, numbers and times. Texts in single quotes,"
        " without backslashes; no SELECT, no variables, no comments.",
        option="scope",
    )

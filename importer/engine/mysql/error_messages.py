"""Translates errors of the server and the client library into messages that say what to do next."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import MySQLdb

from importer.engine.errors import TargetProblem, TargetUnreachable


@dataclass(frozen=True)
class Meaning:
    """The message for an error number. With an empty `what`, the server's own text is shown.

    The advice must hold whether or not the step is tried again: that depends on who meets the error.
    """

    what: str = ""
    advice: str = ""
    retryable: bool = False


_GONE = Meaning("The connection to the server was lost.", "Check that the server runs, and the network to it.", True)
_DOWN = Meaning("No server answers there.", "Check host and port, and that the server runs and listens there.", True)
_UNKNOWN_HOST = Meaning("The host name is unknown.", "Check the host name of the target.")
_UNREACHABLE = (_GONE, _DOWN, _UNKNOWN_HOST)

# Numbers: manual, Server Error Message Reference (1000 to 1999, 3000 on) and Client Error Message Reference (2000 on).
MEANINGS = {
    1020: Meaning("Another session has changed a row.", "Import while nobody else writes to the table.", True),
    1021: Meaning("The server's disk is full.", "Make room on the server, then retry the import."),
    1044: Meaning("", "Give the account the rights on that database; the target's check writes the GRANT for you."),
    1045: Meaning("", "Check user name and password of the target."),
    1049: Meaning("", "Create the database first, or correct its name in the target."),
    1040: Meaning(
        "The server has no free connection.", "Load fewer chunks in parallel, or raise max_connections.", True
    ),
    # Galera's answer to every statement (its manual, wsrep_ready). As an unknown command, 1047 comes from proxies, for
    # LOAD DATA LOCAL only (load/methods/load_data_local.py).
    1047: Meaning(
        "The server's node takes no statements: it has left its cluster, or is not ready yet.",
        "Look at wsrep_ready and wsrep_cluster_status on that node.",
        True,
    ),
    1053: _GONE,
    1114: Meaning("The table or the server's disk is full.", "Make room on the server, then retry the import."),
    1142: Meaning("", "Give the account that right; the target's check writes the GRANT for you."),
    1143: Meaning("", "Give the account that right; the target's check writes the GRANT for you."),
    1146: Meaning("", "The table is gone: create it again, then retry the import."),
    1148: Meaning(
        "The server refuses LOAD DATA LOCAL.", "On the server: SET GLOBAL local_infile = 1, and the same in its my.cnf."
    ),
    1197: Meaning("The transaction is larger than the server's max_binlog_cache_size.", "Choose a smaller chunk size."),
    1205: Meaning(
        "Another transaction held a lock for too long.", "Import when nobody else writes to the table for long.", True
    ),
    1213: Meaning("A deadlock with another transaction.", "With fewer parallel chunks, deadlocks are rarer.", True),
    1290: Meaning("", "The server is read-only or restricted by an option: ask its administrator."),
    1317: Meaning("The statement was killed on the server.", "Ask its administrator what ends statements.", True),
    1461: Meaning("", "On the server: SET GLOBAL max_prepared_stmt_count = 65536; or choose the method insert."),
    1836: Meaning("The server is read-only.", "Load into the primary, not into a replica."),
    1927: _GONE,
    2002: _DOWN,
    2003: _DOWN,
    2005: _UNKNOWN_HOST,
    2006: _GONE,
    2013: _GONE,
    2026: Meaning("", "Check the target's TLS setting and its CA file."),
    2055: _GONE,
    2068: Meaning(
        "LOAD DATA LOCAL is refused.", "On the server: SET GLOBAL local_infile = 1, and the same in its my.cnf."
    ),
    3948: Meaning(
        "The server refuses LOAD DATA LOCAL.", "On the server: SET GLOBAL local_infile = 1, and the same in its my.cnf."
    ),
    4166: Meaning(
        "The server refuses LOAD DATA LOCAL.", "On the server: SET GLOBAL local_infile = 1, and the same in its my.cnf."
    ),
    4031: _GONE,
}

# Errors about the server or the transaction that a load seldom meets, so that they need no message here.
_NOT_ABOUT_ROWS = {1030, 1037, 1038, 1041, 1064, 1099, 1100, 1180, 1206, 1402, 1613, 1614, 1637, 1689, 1785, 1792, 1969}
_CLIENT_ERRORS = range(2000, 3000)


def about_rows(error: MySQLdb.Error) -> bool:
    """Whether a row may be the reason why a loading statement ended with this error.

    A trigger's SIGNAL can have any number, so every error counts that is not known to be about something else.
    """
    number = _number(error)
    return number > 0 and number not in MEANINGS and number not in _NOT_ABOUT_ROWS and number not in _CLIENT_ERRORS


def is_lost(error: MySQLdb.Error) -> bool:
    """Whether the connection or the server is gone, so that the outcome of the statement is unknown."""
    return MEANINGS.get(_number(error)) in (_GONE, _DOWN)


@contextmanager
def explain(where: str, kind: type[TargetProblem] = TargetProblem) -> Iterator[None]:
    """Turn a MySQL error inside the block into a TargetProblem with `where` (the server) and advice.

    It is a TargetUnreachable if no server answers, else of the `kind`.
    """
    try:
        yield
    except MySQLdb.Error as error:
        raise _problem(error, where, kind) from error


def message_of(error: MySQLdb.Error) -> str:
    """The server's or the client library's own text.

    mysqlclient 2.3.1 puts a NULL pointer in the place of a text that is not UTF-8. Any use of it ends the process; the
    repr() of the arguments survives it.
    """
    if repr(error.args).endswith(", <NULL>)"):
        return "The message is not readable."
    return str(error.args[1]) if len(error.args) > 1 else str(error)


def _problem(error: MySQLdb.Error, where: str, kind: type[TargetProblem]) -> TargetProblem:
    number = _number(error)
    text = message_of(error)
    meaning = MEANINGS.get(number, Meaning())
    what = f"{meaning.what} (error {number})" if meaning.what else f"{text} (error {number})"
    kind = TargetUnreachable if meaning in _UNREACHABLE else kind
    return kind(what, where=where, advice=meaning.advice, retryable=meaning.retryable)


def _number(error: MySQLdb.Error) -> int:
    return error.args[0] if error.args and isinstance(error.args[0], int) else 0

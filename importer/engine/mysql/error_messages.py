"""Translates errors of the server and the client library into messages that say what to do next."""

import logging
import re
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

import MySQLdb
from MySQLdb.constants import ER

from importer.engine.errors import TargetProblem, TargetUnreachable
from importer.engine.mysql.answers import CUT
from importer.engine.mysql.quoting import quote_database

logger = logging.getLogger(__name__)

OURS = "importer.engine."
READS = ("fetch_all", "fetch_row")


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
_NO_GREETING = Meaning(
    "The port is open, but no MySQL or MariaDB server greets there.",
    "Check host and port: another program may listen there, or a proxy whose server is down.",
    True,
)
# What the client library's text for error 2013 has in it before a server has sent its greeting (MariaDB Connector/C).
_BEFORE_GREETING = "handshake: reading initial communication packet"
_CUT = Meaning(
    "",
    "Check host and port, and the load of the server: one that works is quicker, and shorter in its answers.",
    True,
)
_UNREACHABLE = (_GONE, _DOWN, _UNKNOWN_HOST, _NO_GREETING, _CUT)
MOST_TEXT = 1000  # characters of a server's text in a message; its own have at most 512
_LOCAL_REFUSED = Meaning(
    "The server refuses LOAD DATA LOCAL.", "On the server: SET GLOBAL local_infile = 1, and the same in its my.cnf."
)
_DENIED = Meaning(
    "", "Give the account that right; `millrace plan`, and the check of a target, write the GRANT for you."
)
CHECK_ACCOUNT = "Check user name and password."
# The text of error 1044, which names the account as GRANT does, unlike those of 1045 and 1142 (both servers).
_DATABASE_DENIED = re.compile(r"for user ('.*'@'.*') to database '(.+)'$")
# What an account needs in a database for every mode: staging tables, new tables, and keys that are built after a load.
RIGHTS = "INSERT, SELECT, UPDATE, DELETE, CREATE, ALTER, DROP"
# The server's text names the file. What a transaction writes for the binary log is in tmpdir until its COMMIT.
_NOT_WRITTEN = Meaning(
    "",
    "Make room in the server's tmpdir and on the disk of its binary log, then retry the import. Smaller chunks need"
    " less.",
)

# Numbers: manual, Global Error Message Reference (below 1000), Server Error Message Reference (1000 to 1999, 3000 on)
# and Client Error Message Reference (2000 on); MariaDB's mysqld_error.h.
MEANINGS = {
    3: _NOT_WRITTEN,
    1020: Meaning("Another session has changed a row.", "Import while nobody else writes to the table.", True),
    1021: Meaning("The server's disk is full.", "Make room on the server, then retry the import."),
    1026: _NOT_WRITTEN,
    1044: _DENIED,
    1045: Meaning("", CHECK_ACCOUNT),
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
    1142: _DENIED,
    1143: _DENIED,
    1146: Meaning("", "The table is gone: create it again, then retry the import."),
    1148: _LOCAL_REFUSED,
    1158: _GONE,
    1159: _GONE,
    1160: _GONE,
    1161: _GONE,
    1197: Meaning("The transaction is larger than the server's max_binlog_cache_size.", "Choose a smaller chunk size."),
    1203: Meaning(
        "The server allows the account no more connections.",
        "Load fewer chunks in parallel, or raise max_user_connections.",
        True,
    ),
    1205: Meaning(
        "Another transaction held a lock for too long.", "Import when nobody else writes to the table for long.", True
    ),
    1213: Meaning("A deadlock with another transaction.", "With fewer parallel chunks, deadlocks are rarer.", True),
    # The account's limit of connections at a time, or of connections or statements in an hour; the server names it.
    1226: Meaning("", "Load fewer chunks in parallel, or raise that limit of the account.", True),
    1290: Meaning("", "The server is read-only or restricted by an option: ask its administrator."),
    1317: Meaning("The statement was killed on the server.", "Ask its administrator what ends statements.", True),
    1461: Meaning("", "On the server: SET GLOBAL max_prepared_stmt_count = 65536; or choose the method insert."),
    1534: _NOT_WRITTEN,
    1705: Meaning(
        "The statement is larger than the server's max_binlog_stmt_cache_size.", "Choose a smaller chunk size."
    ),
    1836: Meaning("The server is read-only.", "Load into the primary, not into a replica."),
    1878: _NOT_WRITTEN,
    1927: _GONE,
    2002: _DOWN,
    2003: _DOWN,
    2005: _UNKNOWN_HOST,
    2006: _GONE,
    2008: Meaning("The server's answer needs more memory than there is for it."),
    2013: _GONE,
    2026: Meaning("", "Check the target's TLS setting and its CA file."),
    2055: _GONE,
    2068: _LOCAL_REFUSED,
    # Group Replication, at COMMIT: another member of the group has changed the same rows.
    3101: Meaning(
        "The server's group has rolled the transaction back.", "Import while nobody else writes to the table.", True
    ),
    3168: _GONE,
    3169: _GONE,
    3948: _LOCAL_REFUSED,
    4166: _LOCAL_REFUSED,
    4031: _GONE,
}

# Errors that say that there is no room on the server.
NO_ROOM = (3, 1021, 1026, 1114, 1534, 1878)

# Errors of files, memory and the C library, and of storage engines (manual, Global Error Message Reference; my_base.h).
_GLOBAL_ERRORS = range(1, 1000)
_CLIENT_ERRORS = range(2000, 3000)
# Errors about other things than rows that a load seldom meets, so that they need no message here.
_NOT_ABOUT_ROWS = frozenset(
    {
        # Files and tables that are damaged or cannot be opened
        *(1004, 1015, 1016, 1017, 1023, 1024, 1033, 1034, 1035, 1036, 1039, 1194, 1195, 1602, 1696, 1712),
        *(1812, 1813, 1814, 1817, 1874, 1877, 1932, 3000),
        # Memory, threads, storage engines
        *(1030, 1031, 1037, 1038, 1041, 1119, 1135, 1286, 1296, 1297, 1436, 3015, 3019, 3032, 3884, 3950, 4081, 4082),
        # Locks and transactions
        *(1099, 1100, 1180, 1181, 1206, 1223, 1402, 1412, 1613, 1614, 1615, 1637, 1689, 1792, 1964, 1969),
        *(3024, 3572, 3985),
        # The binary log and replication
        *(1598, *range(1661, 1668), 1785, 3098, 3100, 3231, 3801, 4165),
        # The account, and what a statement or a trigger refers to
        *(1054, 1064, 1136, 1227, 1305, 1318, 1356, 1370, 1442, 1449),
    }
)


def about_rows(error: MySQLdb.Error) -> bool:
    """Whether a row may be the reason why a loading statement ended with this error.

    A trigger's SIGNAL can have any number, so every error counts that is not known to be about something else.
    """
    number = _number(error)
    others = (MEANINGS, _NOT_ABOUT_ROWS, _GLOBAL_ERRORS, _CLIENT_ERRORS)
    return number > 0 and not any(number in each for each in others)


def is_lost(error: MySQLdb.Error) -> bool:
    """Whether the connection or the server is gone, so that the outcome of the statement is unknown."""
    return MEANINGS.get(_number(error)) in (_GONE, _DOWN)


@contextmanager
def explain(where: str, kind: type[TargetProblem] = TargetProblem) -> Iterator[None]:
    """Turn a MySQL error inside the block into a TargetProblem with `where` (the server) and advice.

    It is a TargetUnreachable if no server answers, else of the `kind`. So is an error of Python that arises where
    answers are read, such as from a word in the place of a number.
    """
    try:
        yield
    except MySQLdb.Error as error:
        raise _problem(error, where, kind) from error
    except (ValueError, TypeError, LookupError, ArithmeticError, AttributeError) as error:
        if not _arose_in_an_answer(error):
            raise
        logger.warning("An answer of %s could not be read.", where, exc_info=error)
        raise TargetProblem(
            f"The server gives an answer that no MySQL or MariaDB server gives ({type(error).__name__}).",
            where=where,
            advice="Check that the target's host and port are those of a MySQL or MariaDB server.",
        ) from error


def _arose_in_an_answer(error: Exception) -> bool:
    """Whether the error arose in a module that reads the answers of servers: it has one of the names of READS."""
    ours = [
        frame for frame, _ in traceback.walk_tb(error.__traceback__) if frame.f_globals["__name__"].startswith(OURS)
    ]
    return any(name in ours[-1].f_globals for name in READS)


def message_of(error: MySQLdb.Error) -> str:
    """The server's or the client library's own text.

    mysqlclient 2.3.1 puts a NULL pointer in the place of a text that is not UTF-8. Any use of it ends the process; the
    repr() of the arguments survives it.
    """
    if repr(error.args).endswith(", <NULL>)"):
        return "The message is not readable."
    text = str(error.args[1]) if len(error.args) > 1 else str(error)
    return text if len(text) <= MOST_TEXT else f"{text[:MOST_TEXT]} ..."


def _problem(error: MySQLdb.Error, where: str, kind: type[TargetProblem]) -> TargetProblem:
    number = _number(error)
    text = message_of(error)
    meaning = _meaning(number, text)
    what = f"{(meaning.what or text).rstrip('.')} (error {number})."
    kind = TargetUnreachable if meaning in _UNREACHABLE else kind
    return kind(what, where=where, advice=meaning.advice, retryable=meaning.retryable)


def _meaning(number: int, text: str) -> Meaning:
    if text.startswith(CUT):
        return _CUT
    if _BEFORE_GREETING in text:
        return _NO_GREETING
    meaning = MEANINGS.get(number, Meaning())
    if number == ER.DBACCESS_DENIED_ERROR and (denied := _DATABASE_DENIED.search(text)):
        return replace(meaning, advice=f"GRANT {RIGHTS} ON {quote_database(denied[2])}.* TO {denied[1]};")
    return meaning


def _number(error: MySQLdb.Error) -> int:
    return error.args[0] if error.args and isinstance(error.args[0], int) else 0

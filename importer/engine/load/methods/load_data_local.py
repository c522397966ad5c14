"""LOAD DATA LOCAL INFILE: the server requests the bytes from this client and parses them."""

import MySQLdb
from MySQLdb.constants import ER

from importer.engine.errors import MethodRefused
from importer.engine.load.methods import Load, Report
from importer.engine.load.methods.load_data import into_table
from importer.engine.load.methods.load_request import LoadRequest
from importer.engine.load.methods.statement_request import StatementRequest
from importer.engine.mysql.connection import FEED_NAME, Feed, LoaderConnection, execute
from importer.engine.mysql.error_messages import message_of
from importer.engine.mysql.quoting import quote_text

# Manual, Server Error Message Reference and Client Error Message Reference: refused by the server (1148, 3948; MariaDB:
# 4166), by the client library (2068), unknown (1047) or unsupported (1235) for a proxy or a compatible server.
REFUSALS = (1047, 1148, 1235, 2068, 3948, 4166)

_LEADING = f"LOAD DATA LOCAL INFILE {quote_text(FEED_NAME)} "


def statement(request: StatementRequest) -> str:
    """The statement for every chunk of a job."""
    return _LEADING + into_table(request)


def replacing(statement: str) -> str:
    """The statement with REPLACE: a row replaces those with its keys, and a bad row ends the statement."""
    return f"{_LEADING}REPLACE {statement.removeprefix(_LEADING)}"


def loader(_request: LoadRequest) -> Load:
    """The function that loads a feed."""
    return load


def load(connection: LoaderConnection, statement: str, feed: Feed) -> Report:
    """Run the statement with the bytes of `feed`.

    Raises the feed's error, the server's error, or MethodRefused if the server refuses LOAD DATA LOCAL.
    """
    try:
        with connection.serving(feed):
            execute(connection, statement)
    except MySQLdb.Error as error:
        if is_refusal(error):
            raise MethodRefused(
                f"The server refuses LOAD DATA LOCAL: {message_of(error)} (error {error.args[0]}).",
                advice="On the server: SET GLOBAL local_infile = 1, and the same in its my.cnf; a proxy that refuses it"
                " can be passed by, at the address of the server behind it. Or choose another method.",
            ) from error
        raise
    return Report.of_load_data(connection)


def is_refusal(error: MySQLdb.Error) -> bool:
    """Whether the error means that the server refuses LOAD DATA LOCAL."""
    number, message = error.args[0], message_of(error).lower()
    if "wsrep" in message:  # A node that has left its Galera cluster refuses every statement, with 1047.
        return False
    # Vitess uses UNKNOWN_ERROR for everything; its message names the statement.
    return number in REFUSALS or (number == ER.UNKNOWN_ERROR and "load" in message)

"""LOAD DATA INFILE: the server opens a named pipe, into which this client writes.

For servers on this machine that refuse LOAD DATA LOCAL. The account needs the FILE privilege, and client and server a
common folder (secure_file_priv, or any folder if that is empty).
"""

import os
import re
from pathlib import Path

import MySQLdb

from importer.engine.errors import MethodRefused
from importer.engine.load.methods import Report
from importer.engine.load.methods.load_data import into_table
from importer.engine.load.methods.statement_request import StatementRequest
from importer.engine.mysql.connection import FEED_NAME, Feed, LoaderConnection, execute
from importer.engine.mysql.error_messages import message_of
from importer.engine.mysql.infile.named_pipes import PipeWriter, pipe_in
from importer.engine.mysql.quoting import quote_text

_LEADING = re.compile(r"LOAD DATA INFILE '((?:[^'\\]|\\.)*)' (IGNORE )")

# Manual, Server Error Message Reference and Global Error Message Reference.
REFUSALS = {
    13: "The server does not find the pipe: it must run on this machine, and see the folder under the same path.",
    29: "The server cannot open the pipe: it must run on this machine, and its account must get into the folder.",
    1045: "Give the account the right to read files: GRANT FILE ON *.* TO it.",
    1085: "The server cannot read the pipe: its account must get into the folder.",
    1227: "Give the account the right to read files: GRANT FILE ON *.* TO it.",
    1290: "The folder must lie in the server's secure_file_priv: set SERVER_FILES_DIR to one in there.",
}


def statement(request: StatementRequest) -> str:
    """The statement for every chunk of a job.

    Each load has its own pipe in the request's folder. IGNORE turns errors about bad values and duplicates into
    warnings, as LOCAL always does (manual, LOAD DATA Statement).
    """
    return f"LOAD DATA INFILE {quote_text(f'{request.folder}/{FEED_NAME}')} IGNORE {into_table(request)}"


def replacing(statement: str) -> str:
    """The statement with REPLACE: a row replaces those with its keys, and a bad row ends the statement."""
    match = _LEADING.match(statement)
    assert match
    return f"{statement[: match.start(2)]}REPLACE {statement[match.end(2) :]}"


def load(connection: LoaderConnection, statement: str, feed: Feed, *, folder: str) -> Report:
    """Run the statement with the bytes of `feed`.

    Raises the feed's error, the server's error, or MethodRefused if the server cannot read the pipe.
    """
    with pipe_in(Path(folder)) as pipe:
        named = quote_text(f"{folder}/{FEED_NAME}")
        writer = PipeWriter(pipe, feed)
        try:
            execute(connection, statement.replace(named, quote_text(os.fspath(pipe)), 1))
        except MySQLdb.Error as error:
            if error.args[0] in REFUSALS:
                raise MethodRefused(
                    f"The server refuses to load files: {message_of(error)} (error {error.args[0]})",
                    where=folder,
                    advice=REFUSALS[error.args[0]],
                ) from error
            raise
        finally:
            writer.stop()
            if writer.error:
                raise writer.error
    return Report.of_load_data(connection)

"""LOAD DATA INFILE: the server opens a named pipe, into which this client writes.

For servers on this machine that refuse LOAD DATA LOCAL. The account needs the FILE privilege, and client and server a
common folder (secure_file_priv, or any folder if that is empty).
"""

import os
from functools import partial
from pathlib import Path

from importer.engine.load.methods import Load, Report
from importer.engine.load.methods.load_data import replacing_from_file, run_on_server, statement_from_file
from importer.engine.load.methods.load_request import LoadRequest
from importer.engine.load.methods.statement_request import StatementRequest
from importer.engine.mysql.connection import FEED_NAME, Feed, LoaderConnection
from importer.engine.mysql.infile.named_pipes import PipeWriter, pipe_in
from importer.engine.mysql.quoting import quote_text

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
    """The statement for every chunk of a job. Each load has its own pipe in the request's folder."""
    return statement_from_file(f"{request.folder}/{FEED_NAME}", request)


replacing = replacing_from_file


def loader(request: LoadRequest) -> Load:
    """The function that loads a feed through pipes in the request's folder."""
    return partial(load, folder=request.folder)


def load(connection: LoaderConnection, statement: str, feed: Feed, *, folder: str) -> Report:
    """Run the statement with the bytes of `feed`.

    Raises the feed's error, the server's error, or MethodRefused if the server cannot read the pipe.
    """
    with pipe_in(Path(folder)) as pipe:
        named = quote_text(f"{folder}/{FEED_NAME}")
        writer = PipeWriter(pipe, feed)
        try:
            run_on_server(connection, statement.replace(named, quote_text(os.fspath(pipe)), 1), folder, REFUSALS)
        finally:
            writer.stop()
            if writer.error:
                raise writer.error
    return Report.of_load_data(connection)

"""LOAD DATA INFILE of a file that lies on the database's host: the server reads it itself, from beginning to end.

One statement loads the whole file. If rows must be left out, their neighbours are sent by another method
(LoadStatements.fed).
"""

from functools import partial

from importer.engine.load.methods import Load, Report
from importer.engine.load.methods.load_data import replacing_from_file, run_on_server, statement_from_file
from importer.engine.load.methods.load_request import LoadRequest
from importer.engine.load.methods.statement_request import StatementRequest
from importer.engine.mysql.connection import Feed, LoaderConnection
from importer.engine.mysql.server_files import require_same
from importer.engine.plan.server_file import ServerFile

# Manual, Server Error Message Reference and Global Error Message Reference.
REFUSALS = {
    13: "The server's account may not read the file: chmod o+r, and let it into the folders above.",
    29: "The server does not find the file, or may not read it: check the path on the database's host.",
    1045: "Give the account the right to read files: GRANT FILE ON *.* TO it.",
    1085: "The server may not read the file. MariaDB takes only files that everybody may read (chmod o+r).",
    1227: "Give the account the right to read files: GRANT FILE ON *.* TO it.",
    1290: "The file must lie in the server's secure_file_priv.",
}


def statement(request: StatementRequest) -> str:
    """The statement that loads the whole file."""
    assert request.file
    return statement_from_file(request.file.path, request)


replacing = replacing_from_file


def loader(request: LoadRequest) -> Load:
    """The function that loads the request's file."""
    assert request.file
    return partial(load, file=request.file)


def load(connection: LoaderConnection, statement: str, feed: Feed, *, file: ServerFile) -> Report:
    """Run the statement. Afterwards the same bytes are read from `feed`, which then knows their digest.

    Raises SourceChanged if the file is another one than was planned, the feed's error, the server's error, or
    MethodRefused if the server cannot read the file.
    """
    run_on_server(connection, statement, file.path, REFUSALS)
    report = Report.of_load_data(connection)
    if file.digest:
        require_same(connection, file.path, file.digest)
    for _ in feed:
        pass
    return report

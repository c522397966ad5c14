"""Renders LOAD DATA, and runs it on files of the server, for the methods that share it."""

import re
from collections.abc import Mapping
from dataclasses import replace

import MySQLdb

from importer.engine.errors import MethodRefused
from importer.engine.load.methods.field_expressions import (
    VARIABLES,
    field_expressions,
    filled,
    numbers,
    with_assignment,
    with_trace,
)
from importer.engine.load.methods.statement_request import StatementRequest
from importer.engine.mysql.connection import LoaderConnection, execute
from importer.engine.mysql.error_messages import message_of
from importer.engine.mysql.quoting import quote_name, quote_table, quote_text

_FROM_FILE = re.compile(r"LOAD DATA INFILE '((?:[^'\\]|\\.)*)' (IGNORE )")


def into_table(request: StatementRequest) -> str:
    """The statement from INTO TABLE on. Each field of the file is read into its column or into a variable.

    If a generated column needs the number of the record or its line, the feed puts them before each record (numbers()).
    """
    table, dialect, fillings = request.table, request.dialect, request.fillings
    fields = field_expressions(request.mapping, table, keep_null_word=request.keep_null_word)
    if request.assigns:
        fields = with_assignment(fields)
    if request.traced:
        fields = with_trace(fields)
    if fillings or request.assignments or any(each.indirect for each in fields):
        fields = [replace(each, numbering=each.column is not None and each.column.auto_increment) for each in fields]
    assignments = [f"{each.name} = {each.value}" for each in fields if each.indirect]
    assignments += [f"{quote_name(each.column)} = {filled(each, table.column(each.column))}" for each in fillings]
    assignments += request.assignments
    targets = [VARIABLES[each] for each in numbers(fillings)]
    targets += ["@skipped" if not each.column else each.variable if each.indirect else each.name for each in fields]
    # The server reads an empty field after a trailing delimiter (records/blocks.py makes sure that it is empty).
    targets += ["@skipped"] if dialect.sent.trailing_delimiter else []
    return (
        f"INTO TABLE {quote_table(table.schema, table.name)}\n"
        f"CHARACTER SET {'binary' if request.as_bytes else 'utf8mb4'}\n"
        f"{dialect.fields_and_lines(quote_text)}{_skipping(request)}\n({', '.join(targets)})"
        + ("\nSET " + ",\n    ".join(assignments) if assignments else "")
    )


def _skipping(request: StatementRequest) -> str:
    """The clause that leaves out the lines above the records of a file that the server reads from its first byte on."""
    return f" IGNORE {request.file.skipped_lines} LINES" if request.file and request.file.skipped_lines else ""


def statement_from_file(path: str, request: StatementRequest) -> str:
    """The statement that loads a file, or a pipe, which the server opens itself.

    IGNORE turns errors about bad values and duplicates into warnings, as LOCAL always does (manual, LOAD DATA
    Statement).
    """
    return f"LOAD DATA INFILE {quote_text(path)} IGNORE {into_table(request)}"


def replacing_from_file(statement: str) -> str:
    """The statement with REPLACE: a row replaces those with its keys, and a bad row ends the statement."""
    match = _FROM_FILE.match(statement)
    assert match
    return f"{statement[: match.start(2)]}REPLACE {statement[match.end(2) :]}"


def run_on_server(connection: LoaderConnection, statement: str, where: str, refusals: Mapping[int, str]) -> None:
    """Run a statement that makes the server open a file.

    Raises MethodRefused, with the advice of `refusals` by error number, if it may not; else the server's error.
    """
    try:
        execute(connection, statement)
    except MySQLdb.Error as error:
        if error.args[0] in refusals:
            raise MethodRefused(
                f"The server refuses to load files: {message_of(error)} (error {error.args[0]})",
                where=where,
                advice=refusals[error.args[0]],
            ) from error
        raise

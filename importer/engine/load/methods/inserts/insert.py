"""INSERT IGNORE ... VALUES with many rows in a statement, and the values as literals in its text."""

from collections.abc import Sequence
from functools import partial
from operator import itemgetter

import MySQLdb
from MySQLdb.constants import ER

from importer.engine.load.methods import Load, Report
from importer.engine.load.methods.inserts import insert_sql
from importer.engine.load.methods.inserts.insert_batches import Inserting
from importer.engine.load.methods.inserts.insert_sql import Template, template
from importer.engine.load.methods.inserts.statement_size import rows_of
from importer.engine.load.methods.load_request import LoadRequest
from importer.engine.load.methods.row_batches import RecordRun
from importer.engine.mysql.connection import Feed, LoaderConnection

statement, replacing = insert_sql.statement, insert_sql.replacing


def loader(request: LoadRequest) -> Load:
    """The function that inserts the records of a feed."""
    return partial(load, request=request)


def load(connection: LoaderConnection, statement: str, feed: Feed, *, request: LoadRequest) -> Report:
    """Insert the records of `feed`. A statement has as many as requested, or fewer to stay below the server's
    max_allowed_packet.

    Raises the feed's error, the server's error, or TargetProblem if a row is larger than max_allowed_packet.
    """
    row_template = template(statement, request.numbers, request.width)
    rows = rows_of(connection, row_template, request)
    inserting = Inserting.on(connection, row_template)
    return inserting.all_of(feed, request.dialect, rows, partial(_insert, inserting))


def _insert(inserting: Inserting, run: RecordRun) -> bool:
    """Insert the run with one statement; False if the statement would be too long."""
    connection, row_template = inserting.connection, inserting.template
    sql = None if run.has_marks else _by_replacing(row_template, run)
    if sql is not None and len(sql) < inserting.largest:
        try:
            connection.query(sql)
        except MySQLdb.OperationalError as error:
            # The total number of fields is right, but not that of each row.
            if error.args[0] != ER.WRONG_VALUE_COUNT_ON_ROW:
                raise
        else:
            inserting.add(run, connection.affected_rows())
            return True
    values = run.rows(row_template.width)
    sql = _by_row(row_template, values)
    if len(sql) >= inserting.largest:
        return False
    inserting.totals.miscounted(
        [(at, len(row)) for at, row in enumerate(values) if len(row) != row_template.width], row_template.width
    )
    connection.query(sql)
    inserting.add(run, connection.affected_rows())
    return True


def _by_replacing(row_template: Template, run: RecordRun) -> bytes | None:
    """The statement, made from the run's bytes by replacement of delimiters and line ends; None if not possible."""
    delimiter, line_end = run.dialect.delimiter_bytes, run.dialect.line_end.encode()
    data = run.bare
    if (
        row_template.between is None
        or delimiter in (b"'", b"\\")
        or data.count(delimiter) != run.count * (row_template.width - 1)
    ):
        return None
    data = _escaped(data)
    fields = data.replace(delimiter, b"'%b'" % row_template.between)
    first, last = row_template.parts[0], row_template.parts[-1]
    return b"%b%b'%b'%b" % (row_template.head, first, fields.replace(line_end, b"'%b,\n%b'" % (last, first)), last)


def _by_row(row_template: Template, values: Sequence[Sequence[bytes | None]]) -> bytes:
    """The statement of these rows. Missing values become NULL, surplus values are ignored."""
    literals = ([_literal(value) for value in row] for row in values)
    missing = [b"NULL"] * row_template.width
    whole = (row if len(row) >= row_template.width else [*row, *missing[len(row) :]] for row in literals)
    if len(row_template.fields) == 1:
        rows = [row_template.formatted % row[row_template.fields[0]] for row in whole]
    else:
        chosen = itemgetter(*row_template.fields)
        rows = [row_template.formatted % chosen(row) for row in whole]
    return row_template.head + b",\n".join(rows)


def _literal(value: bytes | None) -> bytes:
    return b"NULL" if value is None else b"'%b'" % _escaped(value)


def _escaped(value: bytes) -> bytes:
    """The value escaped for a literal (manual, String Literals). In our sessions backslash is an escape."""
    return value.replace(b"\\", b"\\\\").replace(b"'", b"''")

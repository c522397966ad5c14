"""INSERT IGNORE ... VALUES with many rows in a statement, their values as literals in its text."""

from collections.abc import Sequence
from functools import partial
from operator import itemgetter

import MySQLdb
from MySQLdb.constants import ER

from importer.engine.load.methods import Report
from importer.engine.load.methods.inserts.insert_batches import Inserting
from importer.engine.load.methods.inserts.insert_sql import Template, template
from importer.engine.load.methods.inserts.statement_size import rows_of
from importer.engine.load.methods.row_batches import RecordRun
from importer.engine.mysql.connection import Feed, LoaderConnection
from importer.engine.source.dialect import Dialect


def load(
    connection: LoaderConnection,
    statement: str,
    feed: Feed,
    *,
    dialect: Dialect,
    numbers: tuple[str, ...],
    width: int,
    rows: int,
) -> Report:
    """Insert the records of `feed`, `rows` with each statement, less where the server's max_allowed_packet asks for it.

    `numbers` stand before each record, which has `width` fields with them. Raises what the feed raises, the server's
    own error, or TargetProblem if a row is larger than max_allowed_packet.
    """
    made = template(statement, numbers, width)
    inserting = Inserting.on(connection, made)
    return inserting.all_of(feed, dialect, rows_of(connection, made, rows), partial(_insert, inserting))


def _insert(inserting: Inserting, run: RecordRun) -> bool:
    """Insert the run with one statement; False if that would be too long."""
    connection, made = inserting.connection, inserting.made
    sql = None if run.has_marks else _by_replacing(made, run)
    if sql is not None and len(sql) < inserting.largest:
        try:
            connection.query(sql)
        except MySQLdb.OperationalError as error:
            # As many fields as there should be in all, but not in each row.
            if error.args[0] != ER.WRONG_VALUE_COUNT_ON_ROW:
                raise
        else:
            inserting.add(run, connection.affected_rows())
            return True
    values = run.rows(made.width)
    sql = _by_row(made, values)
    if len(sql) >= inserting.largest:
        return False
    inserting.sum_.miscounted([(at, len(row)) for at, row in enumerate(values) if len(row) != made.width], made.width)
    connection.query(sql)
    inserting.add(run, connection.affected_rows())
    return True


def _by_replacing(made: Template, run: RecordRun) -> bytes | None:
    """The statement made of the run's own bytes, whose marks are turned into SQL's; None where that cannot be done."""
    delimiter, line_end = run.dialect.delimiter_bytes, run.dialect.line_end.encode()
    data = run.bare
    if made.between is None or delimiter in (b"'", b"\\") or data.count(delimiter) != run.count * (made.width - 1):
        return None
    data = _escaped(data)
    fields = data.replace(delimiter, b"'%b'" % made.between)
    first, last = made.parts[0], made.parts[-1]
    return b"%b%b'%b'%b" % (made.head, first, fields.replace(line_end, b"'%b,\n%b'" % (last, first)), last)


def _by_row(made: Template, values: Sequence[Sequence[bytes | None]]) -> bytes:
    """The statement of these rows; missing values are NULL, and there may be too many."""
    literals = ([_literal(value) for value in row] for row in values)
    missing = [b"NULL"] * made.width
    whole = (row if len(row) >= made.width else [*row, *missing[len(row) :]] for row in literals)
    if len(made.fields) == 1:
        rows = [made.formatted % row[made.fields[0]] for row in whole]
    else:
        chosen = itemgetter(*made.fields)
        rows = [made.formatted % chosen(row) for row in whole]
    return made.head + b",\n".join(rows)


def _literal(value: bytes | None) -> bytes:
    return b"NULL" if value is None else b"'%b'" % _escaped(value)


def _escaped(value: bytes) -> bytes:
    """What stands between quotes for it (manual, String Literals); our sessions leave backslash an escape."""
    return value.replace(b"\\", b"\\\\").replace(b"'", b"''")

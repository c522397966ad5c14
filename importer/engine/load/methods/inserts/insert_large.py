"""One INSERT of one large record: its values go a piece at a time, so that there is no second copy of any.

Whatever the method: the text of a statement must be in memory as a whole, and so must values that are bound to a
prepared one, unless they are sent ahead of it (manual, mysql_stmt_send_long_data()).
"""

from contextlib import closing

from importer.engine.load.methods.inserts.insert_report import Sum
from importer.engine.load.methods.inserts.insert_sql import Template
from importer.engine.load.methods.inserts.statement_size import too_large
from importer.engine.load.methods.row_batches import NULL_WORD, RecordRun
from importer.engine.mysql.connection import LoaderConnection
from importer.engine.mysql.prepared_statements import PreparedStatement
from importer.engine.source.records.oversized_values import LargeValue, large_values


def insert_large(connection: LoaderConnection, made: Template, run: RecordRun, sum_: Sum, largest: int) -> None:
    """Insert the one record of `run`; `largest` is max_allowed_packet, in bytes.

    Raises the server's error, or TargetProblem if a value is larger than that.
    """
    values = _values(run)
    if any(value and value.size >= largest for value in values):
        raise too_large(largest)
    if len(values) != made.width:
        sum_.miscounted([(0, len(values))], made.width)
    values += [None] * (made.width - len(values))
    sent = [values[field] for field in made.fields]
    with closing(PreparedStatement(connection, made.head + made.prepared, len(made.fields))) as statement:
        affected = statement.execute_in_pieces([value.pieces() if value else None for value in sent])
    sum_.add(connection, 1, connection.info(), affected)


def _values(run: RecordRun) -> list[LargeValue | None]:
    found = large_values(run.data, run.dialect)
    return [None if run.dialect.quote and value and value.is_bare(NULL_WORD) else value for value in found]

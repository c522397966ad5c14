"""Inserts one large record with a prepared statement whose values are sent in pieces, so that none is copied.

Both INSERT methods use it: the text of a statement must be in memory as a whole, and values bound to a prepared
statement too, unless they are sent before it (manual, mysql_stmt_send_long_data()).
"""

from contextlib import closing

from importer.engine.load.methods.inserts.insert_report import InsertTotals
from importer.engine.load.methods.inserts.insert_sql import Template
from importer.engine.load.methods.inserts.statement_size import too_large
from importer.engine.load.methods.row_batches import NULL_WORD, RecordRun
from importer.engine.mysql.connection import LoaderConnection
from importer.engine.mysql.prepared_statements import PreparedStatement
from importer.engine.source.records.large_values import LargeValue, large_values


def insert_large(
    connection: LoaderConnection, template: Template, run: RecordRun, totals: InsertTotals, largest: int
) -> None:
    """Insert the one record of `run`; `largest` is max_allowed_packet, in bytes.

    Raises the server's error, or TargetProblem if a value is not smaller.
    """
    values = _values(run)
    if any(value and value.size >= largest for value in values):
        raise too_large(largest)
    if len(values) != template.width:
        totals.miscounted([(0, len(values))], template.width)
    values += [None] * (template.width - len(values))
    sent = [values[field] for field in template.fields]
    with closing(PreparedStatement(connection, template.head + template.prepared, len(template.fields))) as statement:
        affected = statement.execute_in_pieces([value.pieces() if value else None for value in sent])
    totals.add(connection, 1, affected)


def _values(run: RecordRun) -> list[LargeValue | None]:
    values = large_values(run.data, run.dialect)
    return [None if run.dialect.quote and value and value.is_bare(NULL_WORD) else value for value in values]

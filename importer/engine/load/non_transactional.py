"""Checks that keep loads into a non-transactional staging table (MyISAM, Aria) exactly once.

Such a table keeps all rows that a statement has stored, even if the statement fails. The order is therefore different:
first the rows, on their own, then the ledger row, which is in InnoDB. These engines know their number of rows at once.
Before and after each chunk, and at the end, it must equal the ledger's. If it does not, a chunk was loaded in part.
That part cannot be removed, so the staging table is useless; the target's table is unchanged until the end.

Rows and ledger row are not in one transaction: MySQL warns of that, and refuses it where GTIDs are enforced.
"""

from importer.engine.errors import TargetProblem
from importer.engine.load import ledger
from importer.engine.mysql.connection import Connection, execute, fetch_row
from importer.engine.plan.plan import ImportPlan
from importer.engine.schema.table import count_rows
from importer.engine.units import count_of

ENGINES = ("myisam", "aria")
LOCK_WAIT = 50  # seconds; the connection of a worker that is considered dead is killed earlier


def cannot_roll_back(engine: str) -> bool:
    """Whether the engine, named as in information_schema, is one of ENGINES."""
    return engine.lower() in ENGINES


def lock_staging_table(connection: Connection, job: str) -> None:
    """Make this connection the only one that loads into the job's staging table, until it ends; turn autocommit on.

    Raises TargetProblem (retryable) if another connection is still loading after LOCK_WAIT.
    """
    execute(connection, "SET SESSION autocommit = 1")
    if fetch_row(connection, "SELECT GET_LOCK(%s, %s)", (f"millrace.{job}", LOCK_WAIT))[0] != 1:
        raise TargetProblem(
            "Another worker is still loading into the staging table.",
            advice="The next attempt waits for it.",
            retryable=True,
        )


def require_row_count(connection: Connection, plan: ImportPlan, job: str, more: int = 0) -> None:
    """Raise TargetProblem unless the staging table has as many rows as the job's chunks in the ledger, and `more`.

    COUNT(*) is exact and immediate in these engines (manual, COUNT()).
    """
    rows, known = count_rows(connection, plan.schema, plan.table), ledger.count_rows(connection, job) + more
    if rows == known:
        return
    raise TargetProblem(
        f"The staging table holds {count_of(rows, 'row')} where {known:,} were loaded: an attempt ended in the"
        " middle, and its"
        " engine cannot roll back.",
        where=f"{plan.schema}.{plan.table}",
        advice=f"Retry, which stages the whole file again. {plan.final_table} is unchanged.",
    )

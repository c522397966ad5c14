"""Tables that cannot roll back: how a staging table in MyISAM or Aria is loaded exactly once all the same.

What a statement has put into such a table stays. So the order is another one: the rows go in first, by themselves, and
then the ledger's row, which is in InnoDB. The server knows at once how many rows such a table has, and before and after
each chunk and at the end that must be what the ledger says. If it is not, a chunk has come in part, nobody can take
that part out again, and the staging table is of no further use; the target's table is untouched until the end.

Rows and ledger are not in one transaction, as MySQL warns of that, and refuses it where GTIDs are enforced.
"""

from importer.engine.errors import TargetProblem
from importer.engine.load import ledger
from importer.engine.mysql.connection import Connection, execute, fetch_all
from importer.engine.plan.plan import ImportPlan
from importer.engine.target import staging

ENGINES = ("myisam", "aria")
LOCK_WAIT = 50  # seconds; a worker that is thought dead has its connection ended before


def cannot_roll_back(engine: str) -> bool:
    """Whether it is one of those engines, by its name in information_schema."""
    return engine.lower() in ENGINES


def lock_staging_table(connection: Connection, job: str) -> None:
    """Let nobody else load into the job's staging table as long as this connection lasts; each statement by itself.

    Raises TargetProblem, to be tried again, if somebody does.
    """
    execute(connection, "SET SESSION autocommit = 1")
    if fetch_all(connection, "SELECT GET_LOCK(%s, %s)", (f"millrace.{job}", LOCK_WAIT))[0][0] != 1:
        raise TargetProblem(
            "Another worker is still loading into the staging table.",
            advice="It is tried again in a moment.",
            retryable=True,
        )


def require_row_count(connection: Connection, plan: ImportPlan, job: str, more: int = 0) -> None:
    """Raise TargetProblem unless the staging table has the rows that the ledger knows of the job's chunks, and `more`.

    COUNT(*) is exact and immediate in these engines (manual, COUNT()).
    """
    rows, known = staging.count_rows(connection, plan.schema, plan.table), ledger.count_rows(connection, job) + more
    if rows == known:
        return
    raise TargetProblem(
        f"The staging table holds {rows:,} rows where {known:,} were loaded: an attempt ended in the middle, and its"
        " engine cannot roll back.",
        where=f"{plan.schema}.{plan.table}",
        advice="Retry, which stages the file anew; with load_as innodb, such a chunk is simply loaded again. Nothing"
        f" has changed in {plan.final_table}.",
    )

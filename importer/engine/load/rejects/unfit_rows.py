"""Rejects the staged rows of a chunk that the table cannot take: without a partner in mode update; in mode sync without
a key, or outside the scope."""

from collections.abc import Iterator

from importer.engine.errors import TargetProblem
from importer.engine.load.chunk_session import ChunkSession
from importer.engine.load.rejects.load_result import ServerFindings
from importer.engine.load.rejects.reasons import NULL_KEY, OUTSIDE, UNKNOWN_KEY
from importer.engine.load.rejects.sender import Sender
from importer.engine.mysql.connection import execute, fetch_all
from importer.engine.source.records.row_error import RowError
from importer.engine.target.comparison import Comparison

# Rows that one statement deletes.
AT_ONCE = 1000


def reject_unfit_rows(session: ChunkSession, sender: Sender, findings: ServerFindings) -> None:
    """Add the chunk's staged rows that do not fit to the refused ones, and delete them from the staging table."""
    staged = session.plan.staged
    assert staged
    comparison = Comparison.of(session.plan.schema, session.chunk_load.job, staged)
    chunk = session.chunk.number
    errors: dict[int, RowError] = {}
    for query, error in _unfit(comparison, chunk):
        for _, row in fetch_all(session.connection, query):
            errors.setdefault(int(row), error)
    if not errors:
        return
    sent = sender.sent(0, session.chunk.rows)
    rows = [int(row) for (row,) in fetch_all(session.connection, comparison.rows_of(chunk))]
    refused = {int(sent[place]): errors[row] for place, row in enumerate(rows) if row in errors}
    findings.refused.update(refused)
    sender.leave_out(refused)
    bad = list(errors)
    statements = (comparison.leave_out(chunk, bad[at : at + AT_ONCE]) for at in range(0, len(bad), AT_ONCE))
    deleted = sum(execute(session.connection, statement) for statement in statements)
    if deleted != len(refused):
        raise TargetProblem(
            "Another program changed the staging table while its rows were looked up.",
            advice="The next attempt stages them again.",
            retryable=True,
        )


def _unfit(comparison: Comparison, chunk: int) -> Iterator[tuple[str, RowError]]:
    """Queries for rows that do not fit, and why; the first reason of a row counts."""
    staged = comparison.staged
    key, columns = staged.keys[0][0], ", ".join(staged.keys[0])
    if staged.mode == "update":
        yield comparison.alone(chunk), RowError(UNKNOWN_KEY, f"No row of {staged.table} has its key ({columns}).", key)
        return
    null = f"Its key ({columns}) is NULL, which is no key to find a row by."
    yield comparison.keyless(chunk), RowError(NULL_KEY, null, key)
    if staged.scope:
        scope = staged.scope.replace("`", "")
        reasons = (
            f"The row of {staged.table} with its key ({columns}) is outside the scope: {scope}.",
            f"It would take the row of {staged.table} with its key ({columns}) out of the scope: {scope}.",
            f"It would be a new row outside the scope: {scope}.",
        )
        for query, reason in zip(comparison.outside(chunk), reasons, strict=True):
            yield query, RowError(OUTSIDE, reason, key)

"""Rejects the rows of a chunk that can have no partner: with an unknown key in mode update, without one in sync."""

from importer.engine.errors import TargetProblem
from importer.engine.load.chunk_session import ChunkSession
from importer.engine.load.rejects.load_result import ServerFindings
from importer.engine.load.rejects.reasons import NULL_KEY, UNKNOWN_KEY
from importer.engine.load.rejects.sender import Sender
from importer.engine.mysql.connection import execute, fetch_all, fetch_row
from importer.engine.source.records.row_error import RowError
from importer.engine.target.comparison import Comparison


def reject_without_partner(session: ChunkSession, sender: Sender, findings: ServerFindings) -> None:
    """Add the chunk's staged rows without a partner to the refused ones, and delete them from the staging table."""
    staged = session.plan.staged
    assert staged
    comparison = Comparison.of(session.plan.schema, session.chunk_load.job, staged)
    chunk = session.chunk.number
    if not fetch_row(session.connection, comparison.count_alone(chunk))[0]:
        return
    alone = [int(place) for (place,) in fetch_all(session.connection, comparison.places_alone(chunk))]
    key = staged.keys[0]
    columns = ", ".join(key)
    error = (
        RowError(NULL_KEY, f"Its key ({columns}) is NULL, which is no key to find a row by.", key[0])
        if staged.mode == "sync"
        else RowError(UNKNOWN_KEY, f"No row of {staged.table} has its key ({columns}).", key[0])
    )
    sent = sender.sent(0, session.chunk.rows)
    refused = {int(sent[place]): error for place in alone}
    findings.refused.update(refused)
    sender.leave_out(refused)
    if execute(session.connection, comparison.leave_out_alone(chunk)) != len(alone):
        raise TargetProblem(
            f"Rows of {staged.table} came or went while the keys of the file were looked up.",
            advice="The next attempt looks them up again.",
            retryable=True,
        )

"""Verifies a finished job: the row equation must balance, and the ledger must hold all of its chunks."""

from collections.abc import Mapping
from dataclasses import dataclass

import MySQLdb

from importer.engine.errors import ProofBroken
from importer.engine.load import ledger, seal
from importer.engine.mysql.connection import Address, Connection, connect, execute, fetch_all
from importer.engine.mysql.server_info import read_server, read_uptime
from importer.engine.plan.plan import ImportPlan
from importer.engine.target.table_identity import TableIdentity, read_identity
from importer.engine.target.write_modes import MERGING
from importer.engine.units import count_of

# Seconds by which the application's clock and the time of a record may be off.
UPTIME_MARGIN = 5


@dataclass(frozen=True)
class TableChange:
    """What other sessions did with the target's table during the load: `kind` is rows or altered.

    The table has `rows` more than it should, or fewer if negative. `what` and `advice` are a sentence each.
    """

    kind: str
    what: str
    advice: str
    rows: int = 0


@dataclass(frozen=True)
class Equation:
    """rows in the file = loaded + replaced + unchanged + skipped + rejected.

    `deleted` rows of the table left it, and `marked` ones were marked, because the file does not have them.
    """

    source: int
    loaded: int
    replaced: int = 0
    unchanged: int = 0
    skipped: int = 0
    rejected: int = 0
    deleted: int = 0
    marked: int = 0

    @property
    def missing(self) -> int:
        """Rows of the file that are in none of the counts."""
        return self.source - self.loaded - self.replaced - self.unchanged - self.skipped - self.rejected

    @property
    def balanced(self) -> bool:
        return not self.missing

    def __str__(self) -> str:
        counts = (self.loaded, self.replaced, self.unchanged, self.skipped, self.rejected)
        numbers = f"{self.source:,} = {' + '.join(f'{count:,}' for count in counts)}"
        if self.missing:
            numbers += f" + {self.missing:,} missing"
        gone = f"; deleted from the table: {self.deleted:,}" if self.deleted else ""
        gone += f"; marked in the table: {self.marked:,}" if self.marked else ""
        return f"{numbers} (rows in the file = loaded + replaced + unchanged + skipped + rejected){gone}"


def see_all_commits(connection: Connection) -> None:
    """Let this session read what every node of a Galera cluster has committed; on other servers there is nothing to do.

    An address may lead to another node than the one that the chunks were loaded through, and a node applies commits of
    others a little later (MariaDB Documentation, wsrep_sync_wait: 1 makes reads wait for them).
    """
    shown = fetch_all(connection, "SHOW GLOBAL VARIABLES LIKE 'wsrep_on'")
    if any(str(value).upper() in ("ON", "1") for _, value in shown):
        execute(connection, "SET SESSION wsrep_sync_wait = 1")


def check_finish(address: Address, job: str, rows: int) -> None:
    """Raise ProofBroken unless the ledger holds the job's finishing step with this number of rows."""
    with connect(address) as connection:
        see_all_commits(connection)
        if ledger.exists(connection) and ledger.has_chunk(connection, job, ledger.FINISH):
            known = ledger.read_tally(connection, job, ledger.FINISH).rows
        else:
            known = 0
    if known != rows:
        raise ProofBroken(
            f"The ledger knows of {count_of(known, 'row')} of the finishing step, which brought {rows:,}.",
            where=str(address),
            advice="A fail-over may have lost it, and its rows with it: look at the table, then import the file as a"
            f" new one. {ledger.TABLE} has what is known, WHERE job = '{job}'.",
        )


def missing_chunks(connection: Connection, where: str, job: str, expected: dict[int, int]) -> set[int]:
    """The numbers of the chunks in `expected` (rows by chunk) that the ledger on the target does not hold.

    Before they are loaded again, require_lost_rows() makes sure that their rows are gone, too. Raises ProofBroken if
    the ledger does not agree with itself (seal.py), or its row counts differ from the expected ones, which nothing in
    the protocol explains.
    """
    see_all_commits(connection)
    if not ledger.exists(connection):
        return set(expected)
    seal.require_agreement(connection, job, where)
    committed = ledger.rows_by_chunk(connection, job)
    differing = [number for number, rows in committed.items() if expected.get(number) != rows]
    if differing:
        raise ProofBroken(
            f"The ledger's rows differ from the scan's for {count_of(len(differing), 'chunk')}, first for chunk"
            f" {min(differing)}.",
            where=where,
            advice=f"Look at {ledger.TABLE} WHERE job = '{job}' before trusting the table.",
        )
    return set(expected) - set(committed)


def require_seals(
    connection: Connection, address: Address, plan: ImportPlan, job: str, seals: Mapping[int, float]
) -> None:
    """Raise ProofBroken if rows may be in the table that a known seal counts which the ledger lacks.

    `seals`: the numbers of those that are known to be committed, each with the seconds since a moment before that.
    """
    if gone := set(seals) - seal.present(connection, job):
        require_lost_rows(connection, address, plan, job, min(seals[each] for each in gone))


def require_lost_rows(connection: Connection, address: Address, plan: ImportPlan, job: str, seconds: float) -> None:
    """Raise ProofBroken if rows are still in the table whose commits the ledger has lost: they would load twice.

    A fail-over, a crash without a durable log and a restored server lose a chunk's rows and its ledger row together.
    Whoever deletes ledger rows leaves the rows. If the table was empty at the start, its rows tell which it was. Else a
    server that has run since the commits has lost nothing. `seconds` ago the last of them was certainly there. Where
    the server has another identity now, or started again, a fail-over is assumed.
    """
    if plan.fills_empty_table:
        found, known = ledger.compare_rows(connection, job, plan.schema, plan.table)
        if found == known:
            return
        why = f"The table has {count_of(found, 'row')}, and the ledger knows of {known:,}."
    else:
        same = plan.server and read_server(connection, address).identity == plan.server
        if not (same and read_uptime(connection) > seconds + UPTIME_MARGIN):
            return
        why = "The server has run without a break since they were committed, so their rows are still in the table."
    raise seal.broken(job, str(address), f"Commits that are known are missing from it. {why}")


def require_same_table(
    connection: Connection, plan: ImportPlan, job: str, now: TableIdentity, *, finished: bool = False
) -> bool:
    """Whether the table may be another one than the job's connections have loaded into.

    `finished`: than the one that its staged rows were merged into. Raises ProofBroken if rows are missing, too: it was
    emptied, exchanged, or dropped and created again. All rows are there after other sessions altered or rebuilt it.
    """
    if not any(each.differs_from(now) for each in seal.table_identities(connection, job, finished=finished)):
        return False
    found, known = _counted(connection, plan, job, finished=finished)
    if found < known:
        table = plan.final_table if finished else plan.table
        raise _rows_gone(plan, table, found, known, "was emptied, exchanged or created again during the import")
    return True


def _counted(connection: Connection, plan: ImportPlan, job: str, *, finished: bool = False) -> tuple[int, int]:
    """The rows of the table, and those that are committed; twice 0 for an account that may not read the table.

    `finished`: of the table that has the rows in the end, and of the step that brought them there.
    """
    table = plan.final_table if finished else plan.table
    try:
        found, known = ledger.compare_rows(connection, job, plan.schema, table, finished=finished)
    except MySQLdb.OperationalError as error:
        if error.args[0] not in ledger.DENIED:
            raise
        return 0, 0
    if finished and not known and ledger.has_chunk(connection, job, ledger.FINISH):
        tally = ledger.read_tally(connection, job, ledger.FINISH)
        known = int(tally.rows > tally.rejected)  # A merge that added no row has met one.
    return found, known


def _rows_gone(plan: ImportPlan, table: str, found: int, known: int, how: str) -> ProofBroken:
    return ProofBroken(
        f"The table {table} {how}: it has {count_of(found, 'row')}, and {known:,} were committed.",
        where=f"{plan.schema}.{table}",
        advice="Find out who did it, and whether its rows are in a table of another name. Then take the import's rows"
        " out of this one, and import the file as a new one.",
    )


def compare_table(address: Address, plan: ImportPlan, job: str, *, altered: bool, retried: bool) -> TableChange | None:
    """What other sessions did with the table during the load, as far as the server tells; None if nothing is seen.

    `altered`: the import itself has altered the table since the last chunk, so that its identity tells nothing; nor
    does that of a table that has replaced another one. `retried`: an earlier attempt failed, perhaps for missing rows.
    Raises ProofBroken as require_same_table() does, if no row is left, and if rows are missing after a retry.
    """
    staged = plan.staged is not None
    merged = plan.staged is not None and plan.staged.mode in MERGING
    with connect(address) as connection:
        see_all_commits(connection)
        if not ledger.exists(connection):
            return None
        now = read_identity(connection, plan.schema, plan.final_table if merged else plan.table)
        same_kind = merged or not (altered or staged)
        other = same_kind and require_same_table(connection, plan, job, now, finished=merged)
        if plan.fills_empty_table and not merged:  # A merge adds to the rows that were there.
            found, known = _counted(connection, plan, job, finished=staged)
            if found < known and (retried or not found):
                how = "was emptied or exchanged, or rows were deleted from it"
                raise _rows_gone(plan, plan.final_table, found, known, how)
            return _row_change(plan.final_table, found, known)
    if other:
        return TableChange(
            "altered",
            f"Another session altered, rebuilt or exchanged the table {plan.final_table} during the load.",
            "Its rows before the import are not counted: if it was exchanged, look for the other table.",
        )
    return None


def _row_change(table: str, found: int, known: int) -> TableChange | None:
    """The change of a table that was empty at the start; None if it has the rows that were committed."""
    if found == known:
        return None
    more, did = f"{found - known:,} more", "added rows"
    if found < known:
        more, did = f"{known - found:,} fewer", "deleted rows, or emptied it,"
    return TableChange(
        "rows",
        f"The table {table} has {count_of(found, 'row')} now, {more} than this import has put into it: other sessions"
        f" {did} during the load.",
        "Find out who else writes into the table, and whether that is meant.",
        found - known,
    )

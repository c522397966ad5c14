"""The finishing step of a mode that stages: it happens exactly once, or not at all.

A merge is one transaction with a ledger row of its own, as a chunk is. A swap is one RENAME TABLE, which no transaction
holds: which tables are there tells whether it has been done, whoever asks and however often.
"""

import re
import time
from dataclasses import dataclass, replace

import MySQLdb
from MySQLdb.constants import ER

from importer.engine.errors import Problem, TargetProblem
from importer.engine.load import ledger
from importer.engine.load.chunk_load import LoadCallbacks
from importer.engine.load.non_transactional import lock_staging_table
from importer.engine.load.outcome import Tally
from importer.engine.load.rejects.server_warnings import DUPLICATE
from importer.engine.mysql.connection import Address, Connection, LoaderConnection, connect_loader, execute
from importer.engine.mysql.quoting import quote_name
from importer.engine.plan.plan import ImportPlan
from importer.engine.schema import alter_table, indexes
from importer.engine.schema.dependencies import next_auto_increment, read_surroundings
from importer.engine.schema.table import read_table, require_as_planned
from importer.engine.target import staging, write_modes
from importer.engine.target.staging import Staged, existing_tables, staging_name
from importer.engine.target.table_backup import RENAME_WAIT

# A merge may be silent for as long as it takes; the heart of the step ends it when it is to end.
READ_TIMEOUT = 12 * 3600  # seconds

_INFO = re.compile(r"Records: (\d+)\s+Duplicates: (\d+)\s+Warnings: (\d+)")


@dataclass(frozen=True)
class FinishingStep:
    """The finishing step of one job: `job` is its key in the ledger, `rows` what its chunks have staged.

    `exact`: the staging table holds just so many. Otherwise it may hold less, because rows replaced others in it.
    """

    job: str
    attempt: int
    address: Address
    plan: ImportPlan
    rows: int
    exact: bool = True

    @property
    def staged(self) -> Staged:
        assert self.plan.staged
        return self.plan.staged


def finish(work: FinishingStep, watch: LoadCallbacks) -> Tally:
    """Bring the staged rows where they belong, or find that it has been done: what became of them.

    Raises Problem, also for a duplicate that is to fail; whatever is raised, the target's table is as it was, except
    where the connection was lost during COMMIT or RENAME: the next attempt finds out.
    """
    with connect_loader(work.address, READ_TIMEOUT, work.plan.session) as connection:
        watch.on_connect(connection.thread_id())
        if work.staged.mode in write_modes.MERGING:
            return _merge(connection, work)
        return _swap(connection, work, watch)


def is_done(connection: Connection, job: str, plan: ImportPlan) -> bool:
    """Whether the finishing step has taken place; waits for one that is still open."""
    assert plan.staged
    if ledger.exists(connection) and ledger.has_chunk(connection, job, ledger.FINISH):
        return True
    return plan.staged.mode in write_modes.SWAPPING and _is_swapped(connection, job, plan)


def _merge(connection: LoaderConnection, work: FinishingStep) -> Tally:
    execute(connection, "START TRANSACTION")
    entry = ledger.Entry(work.job, ledger.FINISH, work.attempt, work.rows, 0, "")
    if not ledger.insert(connection, entry):
        execute(connection, "ROLLBACK")
        return ledger.read_tally(connection, work.job, ledger.FINISH)
    _check_target(connection, work.plan)
    tally = _insert(connection, work)
    ledger.record_tally(connection, entry, tally)
    if not ledger.is_visible(connection, entry):
        raise TargetProblem(
            "The server ended the transaction by itself while the rows were merging.",
            where=str(work.address),
            advice="Check the target: such a server cannot load exactly once.",
        )
    execute(connection, "COMMIT")
    return tally


def _insert(connection: LoaderConnection, work: FinishingStep) -> Tally:
    """Run the merge; Records, Duplicates and the affected rows tell what became of each row (server-behaviour.md,
    Modes).
    """
    try:
        affected = execute(connection, work.staged.finish)
    except MySQLdb.IntegrityError as error:
        if error.args[0] != DUPLICATE:
            raise
        raise _duplicate(work, str(error.args[1])) from error
    info = connection.info()
    found = _INFO.search(info.decode() if isinstance(info, bytes) else info or "")
    records, duplicates, warnings = map(int, found.groups()) if found else (-1, 0, 0)
    if records != work.rows:
        raise TargetProblem(
            f"The staging table holds {records:,} rows where {work.rows:,} were loaded into it.",
            where=str(work.address),
            advice="Somebody changed it. Retry, which stages the file anew.",
        )
    if warnings:
        _, code, message = connection.show_warnings()[0]
        text = message.decode(errors="replace") if isinstance(message, bytes) else message
        raise TargetProblem(
            f"The server would change values while it merges the rows: {text} (warning {code}).",
            where=str(work.address),
            advice="Look at the table's triggers and checks, then retry.",
        )
    if work.staged.on_duplicate == "skip":
        return Tally(loaded=affected, skipped=records - affected)
    return Tally(loaded=records - duplicates, replaced=duplicates)


def _duplicate(work: FinishingStep, said: str) -> TargetProblem:
    return TargetProblem(
        f"A row with this key is there already. The server says: {said}",
        where=f"{work.plan.schema}.{work.staged.table}",
        advice=f"{work.staged.table} is as it was. Delete that row from the table or leave it out of the file, or"
        " choose what becomes of duplicates (skip, replace), or mode upsert.",
    )


def _check_target(connection: LoaderConnection, plan: ImportPlan) -> None:
    assert plan.staged
    require_as_planned(connection, plan.schema, plan.staged.table, plan.staged.table_digest)


def _swap(connection: LoaderConnection, work: FinishingStep, watch: LoadCallbacks) -> Tally:
    """Give the staging table the target's name, unless that has been done."""
    plan = work.plan
    if ledger.has_chunk(connection, work.job, ledger.FINISH):
        return ledger.read_tally(connection, work.job, ledger.FINISH)
    if not _is_swapped(connection, work.job, plan):
        execute(connection, f"SET SESSION lock_wait_timeout = {RENAME_WAIT}")
        if not _complete_half(connection, work):
            _rename(connection, work, watch)
    rows = Tally(loaded=work.rows)
    execute(connection, "START TRANSACTION")
    entry = ledger.Entry(work.job, ledger.FINISH, work.attempt, work.rows, 0, "")
    if ledger.insert(connection, entry):
        ledger.record_tally(connection, entry, rows)
    execute(connection, "COMMIT")
    return rows


def _put_keys_back(connection: LoaderConnection, work: FinishingStep, watch: LoadCallbacks) -> None:
    """Give the new table the keys that the old one has now and it has not."""
    plan, staged, stage = work.plan, work.staged, staging_name(work.job)
    if staged.mode != "replace":
        return
    wanted = indexes.read_indexes(connection, plan.schema, staged.table).keys
    missing = indexes.without(indexes.read_indexes(connection, plan.schema, stage).keys, wanted)
    if not missing:
        return
    since = time.monotonic()
    statement = indexes.putting_back(plan.schema, stage, missing)
    alter_table.alter_with_progress(connection, work.address, statement, watch.on_stage)
    watch.index_seconds = round(time.monotonic() - since, 3)


def _is_swapped(connection: Connection, job: str, plan: ImportPlan) -> bool:
    """Whether the staging table has the target's name, by what is there.

    Replaced: the old table lies under the name that only this job gives. Created: the staging table is gone, which
    nobody drops while the job runs, and the target is just like it.
    """
    staged = plan.staged
    assert staged
    stage = staging_name(job)
    there = existing_tables(connection, plan.schema, [stage, staged.table, *([staged.old] if staged.old else [])])
    if staged.mode == "replace":
        return there >= {staged.old, staged.table} and stage not in there
    if stage in there or staged.table not in there or not plan.table_digest:
        return False
    table = read_table(connection, plan.schema, staged.table)
    return replace(table, engine=staged.engine or table.engine).digest == plan.table_digest


def _complete_half(connection: LoaderConnection, work: FinishingStep) -> bool:
    """Take the second half of a swap that a server without atomic DDL (before MariaDB 10.6, MySQL 8.0) died in."""
    plan, staged = work.plan, work.staged
    stage = staging_name(work.job)
    there = existing_tables(connection, plan.schema, [stage, staged.table, *([staged.old] if staged.old else [])])
    if not staged.old or there != {stage, staged.old}:
        return False
    execute(connection, f"RENAME TABLE {_name(plan, stage)} TO {_name(plan, staged.table)}")
    return True


def _rename(connection: LoaderConnection, work: FinishingStep, watch: LoadCallbacks) -> None:
    plan, staged = work.plan, work.staged
    stage = staging_name(work.job)
    if staged.mode == "replace":
        table = read_table(connection, plan.schema, staged.table)
        _check_target(connection, plan)
        # Again, since foreign keys and triggers may have come while the rows were loading.
        around = read_surroundings(connection, plan.schema, staged.table)
        write_modes.check_mode(staged.mode, staged.on_duplicate, table, around, ())
    elif staged.table in existing_tables(connection, plan.schema, [staged.table]):
        raise TargetProblem(
            f"There is a table {plan.schema}.{staged.table} now; there was none when the import was planned.",
            advice="Choose another name, or mode replace.",
        )
    _settle(connection, work)
    _put_keys_back(connection, work, watch)
    _check_rows(staging.count_rows(connection, plan.schema, stage), work)
    number = next_auto_increment(connection, plan.schema, staged.table) if staged.mode == "replace" else None
    if number and any(column.auto_increment for column in table.columns):
        # The server takes the greater of this and what the rows need (manual, ALTER TABLE, AUTO_INCREMENT).
        execute(connection, f"ALTER TABLE {_name(plan, stage)} AUTO_INCREMENT = {number}")
    execute(connection, staged.finish)


def _settle(connection: LoaderConnection, work: FinishingStep) -> None:
    """Make the staging table what it is to be. It is counted afterwards, whatever it has gone through."""
    if not work.plan.rolls_back:
        lock_staging_table(connection, work.job)
    for statement in work.staged.settle:
        try:
            execute(connection, statement)
        except MySQLdb.OperationalError as error:
            # RENAME closes the table as well; FLUSH does it a little earlier, for who has the right.
            if not (statement.startswith("FLUSH") and error.args[0] == ER.SPECIFIC_ACCESS_DENIED_ERROR):
                raise


def _check_rows(counted: int, work: FinishingStep) -> None:
    if counted == work.rows or (not work.exact and 0 < counted < work.rows):
        return
    raise Problem(
        f"The staging table holds {counted:,} rows where {work.rows:,} were loaded into it.",
        where=str(work.address),
        advice="Somebody changed it. Retry, which stages the file anew.",
    )


def _name(plan: ImportPlan, table: str) -> str:
    return f"{quote_name(plan.schema)}.{quote_name(table)}"

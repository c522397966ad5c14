"""Runs the finishing step of a mode that stages, exactly once: merges the staging table, or swaps it in.

A merge is one transaction with a ledger row of its own, like a chunk. A swap is one RENAME TABLE, which is outside
transactions: whether it has happened is decided by which tables exist, so every attempt comes to the same answer.
"""

import re
import time
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import MySQLdb
from MySQLdb.constants import ER

from importer.engine import failpoints
from importer.engine.errors import Previewed, TargetProblem
from importer.engine.load import ledger
from importer.engine.load.chunk_load import LoadCallbacks
from importer.engine.load.methods import info_text, read_warning_rows
from importer.engine.load.methods.equal_rows import UpdateCounter
from importer.engine.load.non_transactional import lock_staging_table
from importer.engine.load.outcome import Seen, Tally
from importer.engine.load.rejects.server_warnings import DUPLICATE
from importer.engine.mysql.connection import Address, Connection, LoaderConnection, connect_loader, execute
from importer.engine.mysql.error_messages import message_of
from importer.engine.mysql.quoting import quote_table
from importer.engine.plan.plan import ImportPlan
from importer.engine.schema import alter_table, indexes
from importer.engine.schema.dependencies import next_auto_increment, read_dependencies
from importer.engine.schema.table import (
    Table,
    changed_since_planned,
    count_rows,
    existing_tables,
    read_table,
    require_unchanged,
)
from importer.engine.target import write_modes
from importer.engine.target.staging import Staged, execute_again, staging_name
from importer.engine.target.table_backup import RENAME_WAIT
from importer.engine.target.table_identity import read_identity
from importer.engine.units import count_of

if TYPE_CHECKING:
    from importer.engine.load.finish.keeping import Keeper

# A merge sends nothing until it is done. The step's heartbeat kills the connection when the step must stop.
READ_TIMEOUT = 12 * 3600  # seconds

_INFO = re.compile(r"Records: (\d+)\s+Duplicates: (\d+)\s+Warnings: (\d+)")


@dataclass(frozen=True)
class FinishingStep:
    """The finishing step of one job: `job` is its key in the ledger, `rows` the number that its chunks have staged.

    `exact`: the staging table must hold exactly that many. Otherwise it may hold fewer, since rows replaced others.
    `seen`: what an earlier comparison has shown, where the plan says that nothing else may be changed.
    """

    job: str
    attempt: int
    address: Address
    plan: ImportPlan
    rows: int
    exact: bool = True
    seen: Seen | None = None

    @property
    def staged(self) -> Staged:
        assert self.plan.staged
        return self.plan.staged


def finish(step: FinishingStep, callbacks: LoadCallbacks) -> Tally:
    """Move the staged rows into the target's table, or find that an earlier attempt has; the tally of the rows.

    Raises Problem, also for a duplicate where on_duplicate is fail. After any exception the target's table is
    unchanged, except where the connection was lost during COMMIT or RENAME: the next attempt finds out.
    """
    with connect_loader(step.address, READ_TIMEOUT, step.plan.session) as connection:
        callbacks.on_connect(connection.thread_id())
        if step.staged.mode in write_modes.MERGING:
            return _merge(connection, step, callbacks)
        return _swap(connection, step, callbacks)


def is_done(connection: Connection, job: str, plan: ImportPlan) -> bool:
    """Whether the finishing step is done; waits while the transaction of an attempt at it is open."""
    assert plan.staged
    if ledger.exists(connection) and ledger.has_chunk(connection, job, ledger.FINISH):
        return True
    return plan.staged.mode in write_modes.SWAPPING and _is_swapped(connection, job, plan)


def _merge(connection: LoaderConnection, step: FinishingStep, callbacks: LoadCallbacks) -> Tally:
    from importer.engine.load.readback import merged_rows
    from importer.engine.target.comparison import ISOLATION

    readback = step.plan.readback
    into = readback and replace(readback, table=step.staged.table)
    if step.staged.compares:
        _settle_compared(connection, step)
    keeper = _keeper(connection, step)
    if keeper or step.staged.compares:
        execute(connection, ISOLATION)
    merged_rows.begin(connection, into)
    entry = ledger.Entry(step.job, ledger.FINISH, step.attempt, step.rows, 0, "")
    if not ledger.insert(connection, entry):
        execute(connection, "ROLLBACK")
        return ledger.read_tally(connection, step.job, ledger.FINISH)
    _check_merged(connection, step.plan)
    if step.staged.refuses_repeats:
        from importer.engine.load.finish.repeats import refuse_repeats

        refuse_repeats(connection, step.plan.schema, step.job, step.staged)
    failpoints.reach("merge.entered")
    change = partial(_change, callbacks=callbacks) if step.staged.compares else _insert
    tally = change(connection, step, keeper)
    ledger.record_tally(connection, entry, tally)
    identity = read_identity(connection, step.plan.schema, step.staged.table)
    ledger.record_identity(connection, step.job, ledger.FINISH, identity)
    if not ledger.is_visible(connection, entry):
        raise TargetProblem(
            "The server ended the transaction by itself while the rows were merging.",
            where=str(step.address),
            advice="Check the target: such a server cannot load exactly once.",
        )
    if readback and into:
        merged_rows.require_equal(connection, readback, into)
    failpoints.reach("merge.inserted")
    execute(connection, "COMMIT")
    failpoints.reach("merge.committed")
    return tally


def _keeper(connection: LoaderConnection, step: FinishingStep) -> "Keeper | None":
    """What keeps the rows that change, with its table made; None if none are to be kept."""
    if not step.staged.kept or step.staged.preview:
        return None
    from importer.engine.load.finish.keeping import Keeper

    return Keeper.making(connection, step.plan.schema, step.job, step.staged)


def _settle_compared(connection: LoaderConnection, step: FinishingStep) -> None:
    """Give a staging table that is still to be compared its key."""
    if not existing_tables(connection, step.plan.schema, [staging_name(step.job)]):
        return  # An earlier attempt has ended the import.
    for statement in step.staged.settle:
        execute_again(connection, statement)


def _change(
    connection: LoaderConnection, step: FinishingStep, keeper: "Keeper | None", callbacks: LoadCallbacks
) -> Tally:
    """Compare the staged rows with the table's, and write what differs. The callback may raise, which ends the step."""
    from importer.engine.load.finish import changes, left_out, seen
    from importer.engine.target.comparison import Comparison

    comparison = Comparison.of(step.plan.schema, step.job, step.staged)
    rows = count_rows(connection, step.plan.schema, staging_name(step.job))
    _check_rows(rows, step)
    where = f"{step.plan.schema}.{step.staged.table}"
    unstaged = left_out.find(connection, step.job, comparison, step.plan.left_out_by, where)
    comparison = replace(comparison, stages_missing=bool(unstaged.ranges) and step.staged.deletes)
    compared = changes.compare(connection, comparison, rows, unstaged, where)
    beyond, shown = None, None
    if step.staged.as_seen and step.seen:
        seen.require(connection, comparison, step.seen, compared, where)
    else:
        beyond = changes.beyond_limits(step.staged, compared, where)
    if beyond or step.staged.preview:
        compared = replace(compared, first=changes.first_rows(connection, comparison, compared))
        shown = seen.read(connection, comparison, compared)
    callbacks.on_compared(compared, shown)
    if step.staged.preview:
        raise Previewed(f"The file was compared with {step.staged.table}.", where, "Nothing was changed.")
    if beyond:
        raise beyond
    failpoints.reach("change.compared")
    return changes.Change(connection, comparison, compared, where, keeper, unstaged.rows).write()


def _insert(connection: LoaderConnection, step: FinishingStep, keeper: "Keeper | None") -> Tally:
    """Run the merge. Records, Duplicates and the affected rows give the tally (server-behaviour.md, Modes)."""
    before = UpdateCounter.read(connection, step.staged.finish)
    if keeper:
        keeper.look()
    try:
        affected = execute(connection, step.staged.finish)
    except MySQLdb.IntegrityError as error:
        if error.args[0] != DUPLICATE:
            raise
        raise _duplicate(step, message_of(error)) from error
    match = _INFO.search(info_text(connection))
    records, duplicates, warnings = map(int, match.groups()) if match else (-1, 0, 0)
    if records != step.rows:
        raise _changed_staging_table(records, step)
    if warnings:
        _, code, text = read_warning_rows(connection)[0]
        raise TargetProblem(
            f"The server would change values while it merges the rows: {text} (warning {code}).",
            where=str(step.address),
            advice="Look at the table's triggers and checks, then retry.",
        )
    if keeper:
        keeper.keep_added(records)
    if step.staged.on_duplicate == "skip":
        return Tally(loaded=affected, skipped=records - affected)
    if step.staged.mode == "upsert":
        unchanged = records + duplicates - affected
    else:
        after = UpdateCounter.read(connection, step.staged.finish)
        unchanged = before.equal_rows(after, duplicates, step.plan.updates_per_row)
    return Tally(loaded=records - duplicates - unchanged, replaced=duplicates, unchanged=unchanged)


def _duplicate(step: FinishingStep, message: str) -> TargetProblem:
    return TargetProblem(
        f"A row with this key is there already. The server says: {message}",
        where=f"{step.plan.schema}.{step.staged.table}",
        advice=f"{step.staged.table} is unchanged. Delete that row from the table or leave it out of the file, or"
        " choose what to do with duplicates (skip, replace), or mode upsert.",
    )


def _check_target(connection: LoaderConnection, plan: ImportPlan) -> None:
    assert plan.staged
    require_unchanged(connection, plan.schema, plan.staged.table, plan.staged.table_digest)


def _check_merged(connection: LoaderConnection, plan: ImportPlan) -> None:
    """Raise Problem if the table has changed since the plan, or if the order of rows decides and its keys have.

    Which row a duplicate meets would be another one.
    """
    _check_target(connection, plan)
    staged = plan.staged
    if not staged or not staged.numbered:
        return
    table = read_table(connection, plan.schema, staged.table)
    dependencies = read_dependencies(connection, plan.schema, staged.table)
    if staged.compares:
        key = ",".join(staged.keys[0])
        named = key if staged.mode in write_modes.COMPARING else ""
        write_modes.check_mode(staged.mode, staged.on_duplicate, table, dependencies, staged.columns, named)
        write_modes.matching_key(staged.mode, table, staged.columns, key)
        return
    write_modes.check_mode(staged.mode, staged.on_duplicate, table, dependencies, staged.columns)
    if {key.columns for key in write_modes.clashing_keys(table, staged.columns)} != set(staged.keys):
        raise changed_since_planned(plan.schema, staged.table)


def _swap(connection: LoaderConnection, step: FinishingStep, callbacks: LoadCallbacks) -> Tally:
    """Give the staging table the target's name, unless an earlier attempt has."""
    plan = step.plan
    if ledger.exists(connection) and ledger.has_chunk(connection, step.job, ledger.FINISH):
        return ledger.read_tally(connection, step.job, ledger.FINISH)
    if not _is_swapped(connection, step.job, plan):
        execute(connection, f"SET SESSION lock_wait_timeout = {RENAME_WAIT}")
        if not _complete_half_swap(connection, step):
            _rename(connection, step, callbacks)
    failpoints.reach("swap.renamed")
    rows = Tally(loaded=step.rows)
    ledger.create(connection)  # Others may have dropped it; the tables prove the swap.
    execute(connection, "START TRANSACTION")
    entry = ledger.Entry(step.job, ledger.FINISH, step.attempt, step.rows, 0, "")
    if ledger.insert(connection, entry):
        ledger.record_tally(connection, entry, rows)
    execute(connection, "COMMIT")
    failpoints.reach("swap.entered")
    return rows


def _restore_keys(connection: LoaderConnection, step: FinishingStep, callbacks: LoadCallbacks) -> None:
    """Add the keys to the new table that the old one has now and the new one lacks."""
    plan, staged, stage = step.plan, step.staged, staging_name(step.job)
    if staged.mode != "replace":
        return
    wanted = indexes.read_indexes(connection, plan.schema, staged.table).keys
    missing = indexes.missing_definitions(indexes.read_indexes(connection, plan.schema, stage).keys, wanted)
    if not missing:
        return
    since = time.monotonic()
    statement = indexes.add_statement(plan.schema, stage, missing)
    alter_table.alter_with_progress(connection, step.address, statement, callbacks.on_stage)
    callbacks.index_seconds = round(time.monotonic() - since, 3)


def _is_swapped(connection: Connection, job: str, plan: ImportPlan) -> bool:
    """Whether the staging table has taken the target's name, judged by the tables that exist.

    Mode replace: the old table has its backup name, which only this job gives. Mode create: the staging table is gone,
    which nobody drops while the job runs, and the target has the planned definition.
    """
    staged = plan.staged
    assert staged
    stage = staging_name(job)
    tables = existing_tables(connection, plan.schema, [stage, staged.table, *([staged.old] if staged.old else [])])
    if staged.mode == "replace":
        return tables >= {staged.old, staged.table} and stage not in tables
    if stage in tables or staged.table not in tables or not plan.table_digest:
        return False
    return read_table(connection, plan.schema, staged.table).digest == plan.table_digest


def _complete_half_swap(connection: LoaderConnection, step: FinishingStep) -> bool:
    """Complete a swap after its first half, in which a server without atomic DDL died (MariaDB < 10.6, MySQL < 8.0)."""
    plan, staged = step.plan, step.staged
    stage = staging_name(step.job)
    tables = existing_tables(connection, plan.schema, [stage, staged.table, *([staged.old] if staged.old else [])])
    if not staged.old or tables != {stage, staged.old}:
        return False
    execute(connection, f"RENAME TABLE {quote_table(plan.schema, stage)} TO {quote_table(plan.schema, staged.table)}")
    return True


def _rename(connection: LoaderConnection, step: FinishingStep, callbacks: LoadCallbacks) -> None:
    plan, staged = step.plan, step.staged
    stage = staging_name(step.job)
    if staged.mode == "replace":
        _check_replaced(connection, plan)
    elif staged.table in existing_tables(connection, plan.schema, [staged.table]):
        raise TargetProblem(
            f"The table {plan.schema}.{staged.table} exists now; it did not when the import was planned.",
            advice="Choose another name, or mode replace.",
        )
    _settle_staging_table(connection, step)
    _restore_keys(connection, step, callbacks)
    _check_rows(count_rows(connection, plan.schema, stage), step)
    if staged.mode == "replace":
        table = _check_replaced(connection, plan)  # To build keys takes minutes.
        number = next_auto_increment(connection, plan.schema, staged.table)
        if number and any(column.auto_increment for column in table.columns):
            # The server takes the greater of this and what the rows need (manual, ALTER TABLE, AUTO_INCREMENT).
            execute(connection, f"ALTER TABLE {quote_table(plan.schema, stage)} AUTO_INCREMENT = {number}")
    failpoints.reach("swap.counted")
    execute(connection, staged.finish)


def _check_replaced(connection: LoaderConnection, plan: ImportPlan) -> Table:
    """The table that is to be replaced, as it is now.

    Raises Problem if the swap would lose a change made to the table since the plan. Keys that refuse no row are no such
    change: the new table gets them.
    """
    staged = plan.staged
    assert staged
    table = read_table(connection, plan.schema, staged.table)
    _check_target(connection, plan)
    dependencies = read_dependencies(connection, plan.schema, staged.table)
    write_modes.check_mode(staged.mode, staged.on_duplicate, table, dependencies, ())
    present = indexes.definition_besides_keys(connection, plan.schema, staged.table)
    if staged.definition not in ("", present):
        raise changed_since_planned(plan.schema, staged.table)
    return table


def _settle_staging_table(connection: LoaderConnection, step: FinishingStep) -> None:
    """Give a staging table that cannot roll back its keys. Its rows are counted afterwards."""
    if not step.plan.rolls_back:
        lock_staging_table(connection, step.job)
    for statement in step.staged.settle:
        try:
            execute(connection, statement)
        except MySQLdb.OperationalError as error:
            # RENAME closes the table as well. FLUSH closes it a little earlier, if the account has the privilege.
            if not (statement.startswith("FLUSH") and error.args[0] == ER.SPECIFIC_ACCESS_DENIED_ERROR):
                raise


def _check_rows(stored: int, step: FinishingStep) -> None:
    if stored == step.rows or (not step.exact and 0 < stored < step.rows):
        return
    raise _changed_staging_table(stored, step)


def _changed_staging_table(stored: int, step: FinishingStep) -> TargetProblem:
    return TargetProblem(
        f"The staging table holds {count_of(stored, 'row')} where {step.rows:,} were loaded into it.",
        where=str(step.address),
        advice="Another program changed it. Retry, which stages the file again.",
    )

"""Takes back what an import has changed, from the rows that it has kept: in one transaction, exactly once."""

from collections.abc import Callable
from dataclasses import dataclass

import MySQLdb

from importer.engine import failpoints
from importer.engine.errors import TargetProblem
from importer.engine.mysql.connection import Address, LoaderConnection, connect_loader, execute, fetch_all, fetch_row
from importer.engine.mysql.error_messages import about_rows, message_of
from importer.engine.schema.table import Column, Table, existing_tables, read_table
from importer.engine.target.comparison import ISOLATION
from importer.engine.target.kept_rows import BY_OTHERS, TAKEN_BACK, Kept, KeptRows
from importer.engine.target.staging import Staged, backup_name, execute_again

# A transaction sends nothing until it is done.
READ_TIMEOUT = 12 * 3600  # seconds
# Rows that others have changed whose keys are told, and the characters of a value.
MOST_NAMED, LONGEST_NAMED = 1000, 100
# Values that strict mode refuses may be in the table already, such as a date of zeros; 0 is no wish for a number.
ANY_VALUE = "NO_AUTO_VALUE_ON_ZERO"


@dataclass(frozen=True)
class TakenBack:
    """What was taken back: rows that have their old values again, deleted ones that are back, new ones that are gone.

    Of them `by_others` rows had been changed by somebody since: they were left as they are, or `overwritten`. `first`
    has the keys of the first of them, as texts.
    """

    changed: int = 0
    deleted: int = 0
    new: int = 0
    by_others: int = 0
    overwritten: bool = False
    key: tuple[str, ...] = ()
    first: tuple[tuple[str, ...], ...] = ()


def take_back(
    address: Address, schema: str, job: str, staged: Staged, overwrite: bool, on_connect: Callable[[int], object]
) -> TakenBack:
    """Bring the kept rows back, or find that an earlier attempt has. The callback is told the connection's id.

    Raises TargetProblem if the table does not take them; then it is as it was before. After a lost connection the next
    attempt finds out.
    """
    with connect_loader(address, READ_TIMEOUT) as connection:
        on_connect(connection.thread_id())
        table = _table(connection, schema, job, staged)
        rows, columns = KeptRows.of(table, job, staged), [table.column(name) for name in staged.kept]
        execute_again(connection, rows.index)
        execute(connection, f"SET SESSION sql_mode = '{ANY_VALUE}'")
        execute(connection, ISOLATION)
        if fetch_all(connection, rows.claim) and int(fetch_row(connection, rows.last)[0]) != TAKEN_BACK:
            _change_back(connection, rows, columns, overwrite, staged.table)
            execute(connection, rows.taken_back)
            failpoints.reach("undo.changed")
        execute(connection, "COMMIT")
        failpoints.reach("undo.committed")
        return _told(connection, rows, overwrite)


def _table(connection: LoaderConnection, schema: str, job: str, staged: Staged) -> Table:
    """The table. Raises TargetProblem unless it and its kept rows are there, and its columns are as they were."""
    kept = backup_name(job)
    there = existing_tables(connection, schema, [kept, staged.table])
    if gone := [name for name in (kept, staged.table) if name not in there]:
        raise TargetProblem(
            f"There is no table {schema}.{gone[0]} any more.", advice="What the import changed cannot be taken back."
        )
    table = read_table(connection, schema, staged.table)
    if table.digest != staged.table_digest:
        raise TargetProblem(
            f"The columns of {schema}.{staged.table} are not those that it had when the import changed it.",
            advice=f"Nothing was changed. Its old rows are in {schema}.{kept}.",
        )
    return table


def _change_back(
    connection: LoaderConnection, rows: KeptRows, columns: list[Column], overwrite: bool, table: str
) -> None:
    sums = fetch_row(connection, rows.count_changed(columns))
    changed = [each for each, number in zip(columns, sums, strict=True) if number]
    there = {int(kind) for kind, _ in fetch_all(connection, rows.count)}
    statements = [rows.mark_changed(changed)] if Kept.WRITTEN in there else []
    statements += [rows.mark(kind, columns) for kind in (Kept.NEW, Kept.DELETED) if kind in there]
    statements += [rows.remove_new(overwrite)] if Kept.NEW in there else []
    statements += [rows.change_back(changed, overwrite)] if changed else []
    if Kept.DELETED in there:
        statements += [*([rows.overwrite_deleted] if overwrite else []), rows.insert_deleted]
    if overwrite and Kept.WRITTEN in there:
        statements.append(rows.insert_gone)
    for statement in statements:
        try:
            execute(connection, statement)
        except MySQLdb.Error as error:
            if not about_rows(error):
                raise
            raise TargetProblem(
                f"{table} does not take its old rows back. The server says: {message_of(error).rstrip('.')}.",
                advice=f"{table} is as it was. Correct what is in the way, and take the import back again.",
            ) from error


def _told(connection: LoaderConnection, rows: KeptRows, overwritten: bool) -> TakenBack:
    counts = {int(kind): int(number) for kind, number in fetch_all(connection, rows.count)}

    def of(kind: Kept) -> int:
        return counts.get(kind, 0) + (counts.get(kind + BY_OTHERS, 0) if overwritten else 0)

    by_others = sum(counts.get(kind + BY_OTHERS, 0) for kind in Kept)
    first = tuple(tuple(map(_named, row)) for row in fetch_all(connection, rows.by_others(MOST_NAMED)))
    return TakenBack(
        of(Kept.WRITTEN), of(Kept.DELETED), of(Kept.NEW), by_others, overwritten and by_others > 0, rows.key, first
    )


def _named(value: object) -> str:
    text = f"0x{value.hex()}" if isinstance(value, bytes) else str(value)
    return text[:LONGEST_NAMED]

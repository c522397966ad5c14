"""Compares the rows that a merge has brought into the target table with those of the staging table (`--verify full`).

The chunks were compared with the file when they were staged. Triggers of the target table fire only in the merge, and
an account without the privilege TRIGGER does not see them.
"""

from importer.engine.errors import TargetProblem
from importer.engine.load.readback import numbered_rows
from importer.engine.load.readback.expected_rows import as_text, fetch_bytes, from_table
from importer.engine.load.readback.row_hash import crc_sql, row_hash_sql
from importer.engine.mysql.connection import Connection, execute
from importer.engine.mysql.quoting import quote_name, quote_table
from importer.engine.plan.readback import Readback
from importer.engine.schema.dependencies import read_dependencies
from importer.engine.schema.table import Column

_STAGED = "staged"


def begin(connection: Connection, into: Readback | None) -> None:
    """Begin the transaction of a merge. `into` has the target table and what is compared there, None for nothing."""
    if into and into.numbered_by:
        numbered_rows.begin(connection, into, locked=False)
    else:
        execute(connection, "START TRANSACTION")


def require_equal(connection: Connection, staged: Readback, into: Readback) -> None:
    """Raise TargetProblem if the rows that were merged in this transaction have other values than the staged ones.

    Both are compared by digests: those of whole rows, and those of each column, which name the columns that differ.
    """
    before = _digests(connection, staged, [_text(each.column, "") for each in staged.readings], from_table(staged))
    after = _digests(connection, into, *_merged(staged, into))
    if before == after:
        return
    sums = zip(into.readings, before[2:], after[2:], strict=True)
    different = [each.column.name for each, sum_before, sum_after in sums if sum_before != sum_after]
    triggers = ", ".join(read_dependencies(connection, into.schema, into.table).triggers)
    raise TargetProblem(
        f"The merged rows are not those of the file: {_difference(before, after, different)}.",
        where=f"{into.schema}.{into.table}",
        advice=f"{into.table} is unchanged. Look at its triggers{f' ({triggers})' if triggers else ''},"
        " which fire for each row, or verify by counts if they may change values.",
    )


def _difference(before: tuple[int, ...], after: tuple[int, ...], columns: list[str]) -> str:
    if before[0] != after[0]:
        return f"{after[0]:,} of {before[0]:,} rows are found again by their key"
    return f"values of {', '.join(columns)} differ" if columns else "values were exchanged between rows"


def _merged(staged: Readback, into: Readback) -> tuple[list[str], str]:
    """The texts of the merged rows' columns, and a FROM clause for these rows."""
    if into.numbered_by:
        return [_text(each.column, "") for each in into.readings], numbered_rows.from_new_rows(into)
    target, keys = quote_table(into.schema, into.table), [quote_name(name) for name in into.key]
    same = " AND ".join(f"{_STAGED}.{key} = {target}.{key}" for key in keys)
    texts = [_text(each.column, f"{target}.") for each in into.readings]
    return texts, f"FROM {quote_table(staged.schema, staged.table)} AS {_STAGED} JOIN {target} ON {same}"


def _text(column: Column, table: str) -> str:
    """SQL for the column as text. A number that the target gave where the file has NULL is shown as NULL."""
    name = quote_name(column.name)
    text = as_text(column, f"{table}{name}")
    return f"IF({_STAGED}.{name} IS NULL, NULL, {text})" if table and column.auto_increment else text


def _digests(connection: Connection, readback: Readback, texts: list[str], rows: str) -> tuple[int, ...]:
    """The number of rows, the sum of their hashes, and for each column the sum of the hashes of its values."""
    columns = [each.column for each in readback.readings]
    terms = [
        crc_sql(text, nullable=column.nullable or column.auto_increment)
        for column, text in zip(columns, texts, strict=True)
    ]
    sums = ", ".join(f"SUM({each})" for each in (row_hash_sql(terms), *terms))
    ((*values,),) = fetch_bytes(connection, f"SELECT COUNT(*), {sums} {rows}")
    return tuple(int(value or 0) for value in values)

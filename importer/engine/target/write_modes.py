"""The ways a file's rows become a table's rows: what each mode does, and why it is refused where it cannot."""

from collections.abc import Iterator, Sequence

from importer.engine.errors import Problem, TargetProblem
from importer.engine.schema.dependencies import TableDependencies
from importer.engine.schema.table import Key, Table

# What each mode does, in one line; the command line and the pages offer these.
MODES: dict[str, str] = {
    "append": "Add the rows, chunk by chunk. What is committed stays, whatever happens later.",
    "atomic": "Add all rows or none, in one transaction at the end.",
    "replace": "Put the file's rows in place of the table's, in one instant. The old table is kept for a restore.",
    "upsert": "Add new rows, and change those whose key is there. The last row in the file wins.",
    "create": "Make a new table from the file's types.",
}
# Measured: docs/server-behaviour.md, Modes.
MERGE_COST = "two to three times as long as"
MERGING = ("atomic", "upsert")
SWAPPING = ("replace", "create")


def stages(mode: str) -> bool:
    """Whether the chunks load into a staging table, and one step at the end brings the rows into their own."""
    return mode != "append"


def numbers_rows(mode: str, on_duplicate: str) -> bool:
    """Whether each staged row must carry its place in the file: where the order decides what becomes of it."""
    return mode == "upsert" or (mode == "atomic" and on_duplicate != "fail")


def loads_in_order(mode: str, on_duplicate: str) -> bool:
    """Whether the chunks themselves must go in one after another, because the server sorts out duplicates as they come.

    Rows that are numbered are put in order by the finishing step instead, so that their chunks need no order.
    """
    return on_duplicate != "fail" and not numbers_rows(mode, on_duplicate)


def check_mode(mode: str, on_duplicate: str, table: Table, around: TableDependencies, columns: Sequence[str]) -> None:
    """Raise Problem, with the reason and the cure, if the mode cannot keep what the table has.

    `columns` are those that the import gives values to.
    """
    if mode not in MODES:
        raise Problem(f"mode is {mode!r}.", advice=f"Choose one of {', '.join(MODES)}.")
    if mode == "upsert" and on_duplicate != "fail":
        raise Problem(
            f"Upsert changes the rows whose key is there; on_duplicate {on_duplicate} says otherwise.",
            advice="Leave on_duplicate out, or choose mode atomic.",
        )
    if stages(mode) and around.versioned:
        raise TargetProblem(
            f"{table.name} is system-versioned: a staging table made like it cannot be altered.",
            advice="Choose mode append.",
        )
    if mode == "replace":
        _check_replace(table, around)
    if on_duplicate == "replace" and mode != "create":
        _check_deleting(table, around)
    if numbers_rows(mode, on_duplicate):
        _check_changing(mode, on_duplicate, table, around, columns)


def _check_replace(table: Table, around: TableDependencies) -> None:
    if around.referenced_by:
        raise TargetProblem(
            f"Foreign keys of {', '.join(around.referenced_by)} point at {table.name}. They would follow the old table"
            " when the new one takes its name.",
            advice="Choose mode upsert or atomic, or drop those foreign keys and add them again afterwards.",
        )
    if around.foreign_keys:
        raise TargetProblem(
            f"{table.name} has foreign keys ({', '.join(around.foreign_keys)}), which CREATE TABLE LIKE leaves out.",
            advice="Choose mode upsert or atomic, or drop them and add them again afterwards.",
        )
    if around.triggers:
        raise TargetProblem(
            f"{table.name} has triggers ({', '.join(around.triggers)}), which would stay with the old table.",
            advice="Choose mode upsert or atomic, or drop them and create them again afterwards.",
        )


def _check_deleting(table: Table, around: TableDependencies) -> None:
    """REPLACE deletes a row and inserts another (manual, REPLACE Statement)."""
    if around.referenced_by:
        raise TargetProblem(
            f"Foreign keys of {', '.join(around.referenced_by)} point at {table.name}: replacing a row deletes it first"
            " and may delete or detach theirs.",
            advice="Choose mode upsert, which changes rows in place.",
        )


def _check_changing(
    mode: str, on_duplicate: str, table: Table, around: TableDependencies, columns: Sequence[str]
) -> None:
    keys = clashing_keys(table, columns)
    if mode == "upsert" and not keys:
        raise Problem(
            f"Upsert needs a primary or unique key of {table.name} whose columns all come from the file.",
            advice=_keys_advice(table),
        )
    if len(keys) > 1:
        names = ", ".join(f"{key.name} ({', '.join(key.columns)})" for key in keys)
        raise Problem(
            f"{table.name} has {len(keys)} unique keys that a row may meet at once: {names}. One row of the file could"
            " then stand for several of the table.",
            advice="Leave the column of one of them out, drop one, or let duplicates fail.",
        )
    if mode == "atomic" and on_duplicate == "skip" and around.updating:
        raise TargetProblem(
            f"{table.name} has triggers on UPDATE ({', '.join(around.updating)}), which would fire for skipped rows.",
            advice="Let duplicates fail, or choose mode append.",
        )


def clashing_keys(table: Table, columns: Sequence[str]) -> tuple[Key, ...]:
    """The unique keys on which a row that gives values to these columns may meet another row.

    Not those with a column that the server numbers, or that is NULL in every row of the file: no two rows meet there.
    """
    given = {column.lower() for column in columns}
    apart = {
        column.name.lower()
        for column in table.columns
        if column.name.lower() not in given
        and (column.auto_increment or (column.nullable and column.default in (None, "NULL")))
    }
    return tuple(key for key in table.keys if key.unique and not apart & {name.lower() for name in key.columns})


def _keys_advice(table: Table) -> str:
    keys = [f"{key.name} ({', '.join(key.columns)})" for key in table.keys if key.unique]
    if not keys:
        return "Add a primary key to the table, or choose mode append."
    return f"It has {'; '.join(keys)}: let a field go into each of the columns of one of them, or choose mode append."


def explain(mode: str, table: Table, around: TableDependencies) -> Iterator[tuple[str, str, bool]]:
    """What the mode does, and what becomes of the things around the table: what, why, and whether it costs time."""
    if mode == "atomic":
        yield (
            "All rows or none",
            "the chunks load into a staging table, and one transaction moves its rows into the table at the end: that"
            f" takes {MERGE_COST} mode append, and room for the rows twice",
            True,
        )
    elif mode == "upsert":
        yield (
            "The last row in the file wins",
            "the chunks load into a staging table with each row's place in the file, and one transaction changes or"
            f" inserts its rows in that order at the end, all of them or none: that takes {MERGE_COST} mode append",
            True,
        )
    elif mode == "replace":
        yield (
            "The new rows take the table's place in one instant",
            "they load into a staging table, which RENAME TABLE puts in the place of the old one; that is kept, for a"
            " restore, until you drop it",
            False,
        )
    elif mode == "create":
        yield "The table comes into being with its rows", "they load into a staging table, which is renamed", False
    for what, why in _kept(mode, table, around):
        yield what, why, False


def _kept(mode: str, table: Table, around: TableDependencies) -> Iterator[tuple[str, str]]:
    if mode == "replace":
        if around.views:
            yield f"Views go on as they are: {', '.join(around.views)}", "they find the table by its name"
        if around.granted:
            yield f"Rights on the table stay: {', '.join(around.granted)}", "they belong to its name"
        if around.partitioned:
            yield "Partitions stay", "the new table is made like the old one"
        if any(column.generated for column in table.columns):
            yield "Generated columns stay", "the new table is made like the old one"
        if any(column.auto_increment for column in table.columns):
            yield "AUTO_INCREMENT goes on where it is", "no number is given twice"
    if mode in MERGING:
        if around.foreign_keys:
            yield f"Foreign keys are checked: {', '.join(around.foreign_keys)}", "by the finishing step, for every row"
        if around.triggers:
            yield f"Triggers fire: {', '.join(around.triggers)}", "in the finishing step, for every row"

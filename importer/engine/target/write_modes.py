"""The write modes: what each does with the rows of a file, which tables it refuses and why."""

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
# The modes that add every row, also one that is in the table already, unless a key refuses it.
ADDING = ("append", "atomic")


def stages(mode: str) -> bool:
    """Whether the chunks load into a staging table, whose rows the finishing step brings into the target table."""
    return mode != "append"


def numbers_rows(mode: str, on_duplicate: str) -> bool:
    """Whether each staged row needs its position in the file, because the order of rows decides which one wins."""
    return mode == "upsert" or (mode == "atomic" and on_duplicate != "fail")


def loads_in_order(mode: str, on_duplicate: str) -> bool:
    """Whether the chunks must load one after another, because the server resolves duplicates while rows arrive.

    Numbered rows are put in order by the finishing step, so their chunks may load in any order.
    """
    return on_duplicate != "fail" and not numbers_rows(mode, on_duplicate)


def check_mode(
    mode: str, on_duplicate: str, table: Table, dependencies: TableDependencies, columns: Sequence[str]
) -> None:
    """Raise Problem, with the reason and advice, if the mode cannot preserve the table's keys and `dependencies`.

    `columns` are those that the import fills.
    """
    if mode not in MODES:
        raise Problem(f"mode is {mode!r}.", advice=f"Choose one of {', '.join(MODES)}.")
    if mode == "upsert" and on_duplicate != "fail":
        raise Problem(
            f"Upsert updates the rows whose key exists, which contradicts on_duplicate {on_duplicate}.",
            advice="Leave on_duplicate out, or choose mode atomic.",
        )
    if stages(mode) and dependencies.versioned:
        raise TargetProblem(
            f"{table.name} is system-versioned: a staging table made like it cannot be altered.",
            advice="Choose mode append.",
        )
    if mode == "replace":
        check_swap(table.name, dependencies, "Choose mode upsert or atomic, or drop them first.")
    if on_duplicate == "replace" and mode != "create":
        _check_deleting(table, dependencies)
    if numbers_rows(mode, on_duplicate):
        _check_changing(mode, on_duplicate, table, dependencies, columns)


def check_swap(table: str, dependencies: TableDependencies, advice: str) -> None:
    """Raise TargetProblem, with the advice, if something would go away with a table whose name another table takes."""
    if dependencies.referenced_by:
        raise TargetProblem(
            f"Foreign keys of {', '.join(dependencies.referenced_by)} point at {table}. They would stay with it when"
            " another table takes its name.",
            advice=f"{advice} Add them again afterwards.",
        )
    if dependencies.foreign_keys:
        raise TargetProblem(
            f"{table} has foreign keys ({', '.join(dependencies.foreign_keys)}), which would stay with it when another"
            " table takes its name.",
            advice=f"{advice} Add them again afterwards.",
        )
    if dependencies.triggers:
        raise TargetProblem(
            f"{table} has triggers ({', '.join(dependencies.triggers)}), which would stay with it when another table"
            " takes its name.",
            advice=f"{advice} Create them again afterwards.",
        )


def _check_deleting(table: Table, dependencies: TableDependencies) -> None:
    """REPLACE deletes a row and inserts another (manual, REPLACE Statement)."""
    if dependencies.referenced_by:
        raise TargetProblem(
            f"Foreign keys of {', '.join(dependencies.referenced_by)} point at {table.name}: replacing a row deletes it"
            " first and may delete or detach theirs.",
            advice="Choose mode upsert, which changes rows in place.",
        )


def _check_changing(
    mode: str, on_duplicate: str, table: Table, dependencies: TableDependencies, columns: Sequence[str]
) -> None:
    keys = clashing_keys(table, columns)
    if mode == "upsert" and not keys:
        raise Problem(
            f"Upsert needs a primary or unique key of {table.name} whose columns all have values from the file.",
            advice=_keys_advice(table),
        )
    if len(keys) > 1:
        names = ", ".join(f"{key.name} ({', '.join(key.columns)})" for key in keys)
        raise Problem(
            f"{table.name} has {len(keys)} unique keys on which a row may be a duplicate: {names}. One row of the file"
            " could then match several rows of the table.",
            advice="Leave the column of one of them out, drop one, or let duplicates fail.",
        )
    if mode == "atomic" and on_duplicate == "skip" and dependencies.updating:
        raise TargetProblem(
            f"{table.name} has triggers on UPDATE ({', '.join(dependencies.updating)}), which would fire for skipped"
            " rows.",
            advice="Let duplicates fail, or choose mode append.",
        )


def clashing_keys(table: Table, columns: Sequence[str]) -> tuple[Key, ...]:
    """The unique keys on which rows with values for these columns may be duplicates.

    Keys with an AUTO_INCREMENT column, or one that is NULL in every row of the file, are not among them, unless the
    file or a trigger fills that column, or the server computes it.
    """
    filled = {column.lower() for column in (*columns, *table.named_by_triggers)}
    never_equal = {
        column.name.lower()
        for column in table.fillable_columns
        if column.name.lower() not in filled
        and (column.auto_increment or (column.nullable and column.default in (None, "NULL")))
    }
    return tuple(key for key in table.keys if key.unique and not never_equal & {name.lower() for name in key.columns})


def updated_columns(table: Table, dependencies: TableDependencies, columns: Sequence[str]) -> tuple[str, ...]:
    """The columns, of those that the import fills, that an upsert sets in a row whose key exists.

    Of the key those whose equal values may be different texts: ann and Ann, or two that differ behind the key's prefix.
    None of the key if foreign keys point at the table: the server would refuse the row, or change or detach theirs.
    """
    in_keys = {name.lower() for key in clashing_keys(table, columns) for name in key.columns}
    kept = {name for name in in_keys if dependencies.referenced_by or not _spells_differently(table, name)}
    return tuple(column for column in columns if column.lower() not in kept)


def _spells_differently(table: Table, column: str) -> bool:
    """Whether values of the column that are equal in a key may be different texts."""
    return not table.column(column).column_type.is_typed


def _keys_advice(table: Table) -> str:
    keys = [f"{key.name} ({', '.join(key.columns)})" for key in table.keys if key.unique]
    if not keys:
        return "Add a primary key to the table, or choose mode append."
    return f"It has {'; '.join(keys)}: let a field go into each of the columns of one of them, or choose mode append."


def explain(
    mode: str, table: Table, dependencies: TableDependencies, columns: Sequence[str]
) -> Iterator[tuple[str, str, bool]]:
    """What the mode does, and its effect on the table's dependencies: what, why, and whether it costs time.

    `columns` are those that the import fills.
    """
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
        yield "The table appears with all of its rows", "they load into a staging table, which is renamed", False
    for what, why in _effects_on_dependencies(mode, table, dependencies, columns):
        yield what, why, False


def _effects_on_dependencies(
    mode: str, table: Table, dependencies: TableDependencies, columns: Sequence[str]
) -> Iterator[tuple[str, str]]:
    if mode == "replace":
        if dependencies.triggers_hidden:
            yield (
                f"Triggers of {table.name} would be lost, and the account does not see whether there are any",
                "they would stay with the old table. With the right to see them (GRANT TRIGGER"
                f" ON {table.schema}.{table.name}), a plan for a table with triggers is refused",
            )
        if dependencies.views:
            yield f"Views keep working: {', '.join(dependencies.views)}", "they find the table by its name"
        if dependencies.granted:
            yield f"Privileges on the table stay: {', '.join(dependencies.granted)}", "they belong to its name"
        if dependencies.partitioned:
            yield "Partitions stay", "the new table is made like the old one"
        if dependencies.checks:
            yield (
                f"Checks stay, and lose their names: {', '.join(dependencies.checks)}",
                f"MySQL names those of a copied table itself, such as {table.name}_chk_1",
            )
        if dependencies.histograms:
            yield (
                f"Histograms do not stay, of {', '.join(dependencies.histograms)}",
                "they belong to the old table; ANALYZE TABLE ... UPDATE HISTOGRAM makes new ones afterwards",
            )
        if any(column.generated for column in table.columns):
            yield "Generated columns stay", "the new table is made like the old one"
        yield from _numbers_of_replacing(table, columns)
    if mode in MERGING:
        in_keys = [name for key in clashing_keys(table, columns) for name in key.columns]
        if (
            mode == "upsert"
            and dependencies.referenced_by
            and any(_spells_differently(table, name) for name in in_keys)
        ):
            yield (
                "Keys that exist keep their spelling: ann stays ann where the file has Ann",
                f"foreign keys of {', '.join(dependencies.referenced_by)} point at them",
            )
        if dependencies.foreign_keys:
            yield (
                f"Foreign keys are checked: {', '.join(dependencies.foreign_keys)}",
                "by the finishing step, for every row",
            )
        if dependencies.triggers:
            yield f"Triggers fire: {', '.join(dependencies.triggers)}", "in the finishing step, for every row"


def _numbers_of_replacing(table: Table, columns: Sequence[str]) -> Iterator[tuple[str, str]]:
    """What mode replace does with the numbers of the table's AUTO_INCREMENT column."""
    filled = {name.lower() for name in columns}
    for column in table.columns:
        if column.auto_increment:
            given = f"{column.name} has the file's own numbers" if column.name.lower() in filled else ""
            yield (
                given or f"{column.name} numbers the file's rows from 1",
                "rows that come later continue from the old table's current number",
            )

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
    "update": "Change rows that are there, in the file's columns only. A row with an unknown key is rejected.",
    "sync": "Make the table equal to the file: add new rows, change those that differ, delete what the file lacks.",
    "create": "Make a new table from the file's types.",
}
# Measured: docs/server-behaviour.md, Modes.
MERGE_COST = "two to three times as long as"
# The modes that compare the staged rows with those of the table, by one key, and write only what differs.
COMPARING = ("update", "sync")
MERGING = ("atomic", "upsert", *COMPARING)
# The modes that change rows whose key is there.
CHANGING = ("upsert", *COMPARING)
SWAPPING = ("replace", "create")
# The modes that leave the columns that the file does not have as they are.
KEEPING = ("update",)
# The modes that can keep the old rows of the table, so that the change can be taken back.
UNDOING = ("atomic", *CHANGING)
# What becomes of rows that the file of mode sync does not have; the column that marks them may be in backticks.
DELETE, KEEP = "delete", "keep"
MARK = r"mark=(`[^`]+`|[^:`]+)(:.+)?"
# The modes that add every row, also one that is in the table already, unless a key refuses it.
ADDING = ("append", "atomic")


def compares(mode: str, keeps: bool) -> bool:
    """Whether the staged rows are compared with those of the table; of an upsert only if it `keeps` the old ones."""
    return mode in COMPARING or (mode == "upsert" and keeps)


def stages(mode: str) -> bool:
    """Whether the chunks load into a staging table, whose rows the finishing step brings into the target table."""
    return mode != "append"


def numbers_rows(mode: str, on_duplicate: str) -> bool:
    """Whether each staged row needs its position in the file, because the order of rows decides which one wins."""
    return mode in CHANGING or (mode == "atomic" and on_duplicate != "fail")


def loads_in_order(mode: str, on_duplicate: str) -> bool:
    """Whether the chunks must load one after another, because the server resolves duplicates while rows arrive.

    Numbered rows are put in order by the finishing step, so their chunks may load in any order.
    """
    return on_duplicate != "fail" and not numbers_rows(mode, on_duplicate)


def check_mode(
    mode: str, on_duplicate: str, table: Table, dependencies: TableDependencies, columns: Sequence[str], key: str = ""
) -> None:
    """Raise Problem, with the reason and advice, if the mode cannot preserve the table's keys and `dependencies`.

    `columns` are those that the import fills, `key` the one that is asked for, "" for none.
    """
    if mode not in MODES:
        raise Problem(f"mode is {mode!r}.", advice=f"Choose one of {', '.join(MODES)}.")
    if mode in CHANGING and on_duplicate != "fail":
        raise Problem(
            f"Mode {mode} changes the rows whose key exists, which contradicts on_duplicate {on_duplicate}.",
            advice="Leave on_duplicate out, or choose mode atomic.",
        )
    if key and mode not in COMPARING:
        raise Problem(
            f"Mode {mode} finds rows by every unique key, not by {key} alone.",
            advice=f"Leave the key out, or choose mode {' or '.join(COMPARING)}.",
            option="key",
        )
    if stages(mode) and dependencies.versioned:
        raise TargetProblem(
            f"{table.name} is system-versioned: a staging table made like it cannot be altered.",
            advice="Choose mode append.",
        )
    if mode == "replace":
        check_swap(table.name, dependencies, "Choose mode sync, upsert or atomic, or drop them first.")
    if on_duplicate == "replace" and mode != "create":
        _check_deleting(table, dependencies)
    if mode in COMPARING:
        found = matching_key(mode, table, columns, key)
        if mode == "update" and not updated_columns(table, dependencies, columns, (found,)):
            raise Problem(
                f"The file has nothing to change but the key {found.name} ({', '.join(found.columns)}).",
                advice="Let a field go into another column, too.",
            )
    elif numbers_rows(mode, on_duplicate):
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


def matching_key(mode: str, table: Table, columns: Sequence[str], wanted: str = "") -> Key:
    """The key by which the rows of the file find those of the table, in a mode that compares them.

    The `wanted` one, by its name or its columns; else the primary key, or the only unique key, whose columns the import
    fills. Raises Problem if there is no such key, or more than one.
    """
    filled = {name.lower() for name in columns}
    usable = [
        key
        for key in table.keys
        if key.unique and not key.prefixed and filled >= {each.lower() for each in key.columns}
    ]
    if wanted:
        names = {name.strip().lower() for name in wanted.split(",")}
        for key in usable:
            if {key.name.lower()} == names or {name.lower() for name in key.columns} == names:
                return key
        raise Problem(
            f"{table.name} has no primary or unique key {wanted} whose columns all have values from the file.",
            advice=_keys_advice(table),
            option="key",
        )
    usable = [key for key in usable if key.name == "PRIMARY"] or usable
    if not usable:
        raise Problem(
            f"Mode {mode} needs a primary or unique key of {table.name} whose columns all have values from the file.",
            advice=_keys_advice(table),
        )
    if len(usable) > 1:
        named = ", ".join(f"{key.name} ({', '.join(key.columns)})" for key in usable)
        raise Problem(
            f"{table.name} has {len(usable)} unique keys by which its rows can be found: {named}.",
            advice=f"Say which one: --key {usable[0].name}.",
            option="key",
        )
    return usable[0]


def kept_key(table: Table, columns: Sequence[str]) -> Key:
    """The key by which mode atomic keeps the rows that it adds. Raises Problem if there is none.

    The AUTO_INCREMENT column, unless the import fills it; else a primary or unique key that it fills, without NULL.
    """
    filled = {name.lower() for name in columns}
    unique = [key for key in table.keys if key.unique and not key.prefixed]
    for key in sorted(unique, key=lambda key: key.name != "PRIMARY"):
        named = [table.column(name) for name in key.columns if "(" not in name]
        given = [each.auto_increment and each.name.lower() not in filled for each in named]
        whole = [each.name.lower() in filled and not each.nullable for each in named]
        if len(named) == len(key.columns) and (given == [True] or all(whole)):
            return key
    raise Problem(
        f"To take back rows that are added, {table.name} needs an AUTO_INCREMENT column, or a primary or unique key"
        " without NULL whose columns all have values from the file.",
        advice="Leave undo out, or add such a key to the table.",
        option="undo",
    )


def updated_columns(
    table: Table, dependencies: TableDependencies, columns: Sequence[str], keys: Sequence[Key]
) -> tuple[str, ...]:
    """The columns, of those that the import fills, that are set in a row whose key exists: one of `keys`.

    Of the key those whose equal values may be different texts: ann and Ann, or two that differ behind the key's prefix.
    None of the key if foreign keys point at the table: the server would refuse the row, or change or detach theirs.
    """
    in_keys = {name.lower() for key in keys for name in key.columns}
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
    mode: str, table: Table, dependencies: TableDependencies, columns: Sequence[str], wanted: str = ""
) -> Iterator[tuple[str, str, bool]]:
    """What the mode does, and its effect on the table's dependencies: what, why, and whether it costs time.

    `columns` are those that the import fills, `wanted` the key that is asked for.
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
    elif mode in COMPARING:
        key = matching_key(mode, table, columns, wanted)
        refused = "a row whose key is unknown is rejected" if mode == "update" else "each row must have a key"
        yield (
            f"Rows are found by {key.name} ({', '.join(key.columns)}), and changed where a value differs",
            f"the chunks load into a staging table, where {refused}; one transaction compares them with the table and"
            " writes what differs, all of it or nothing. Of one key the last row wins",
            False,
        )
        filled = {name.lower() for name in columns}
        others = [column.name for column in table.fillable_columns if column.name.lower() not in filled]
        if others and mode == "update":
            yield f"Other columns stay as they are: {', '.join(others)}", "the file does not have them", False
        elif others:
            yield (
                f"Other columns stay as they are where a row is there: {', '.join(others)}",
                "the file does not have them; in new rows they get their default",
                False,
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
    for what, why in _effects_on_dependencies(mode, table, dependencies, columns, wanted):
        yield what, why, False


def _effects_on_dependencies(
    mode: str, table: Table, dependencies: TableDependencies, columns: Sequence[str], wanted: str
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
    if mode == "sync" and dependencies.referenced_by:
        yield (
            f"Foreign keys of {', '.join(dependencies.referenced_by)} decide about rows that point at deleted ones",
            "RESTRICT stops the import and names what is held, CASCADE deletes them too, SET NULL detaches them",
        )
    if mode in MERGING:
        changed = " that differs" if mode in COMPARING else ""
        keys = (matching_key(mode, table, columns, wanted),) if changed else clashing_keys(table, columns)
        in_keys = [name for key in keys for name in key.columns]
        if (
            mode in CHANGING
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
                f"by the finishing step, for every row{changed}",
            )
        if triggers := dependencies.updating if mode == "update" else dependencies.triggers:
            yield f"Triggers fire: {', '.join(triggers)}", f"in the finishing step, for every row{changed}"


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

"""Ways of statements that the server runs by itself: table copies, and keys that are added to a full table."""

from collections.abc import Sequence

from bench.experiments.raw.target import Run, StatementTarget, connected, in_scratch_tables
from importer.engine.mysql.connection import Connection, execute


def copy(target: StatementTarget) -> int:
    """Copy the last but one table, which is filled, into the last one by INSERT ... SELECT. Returns the rows copied."""
    with connected(target) as connection:
        _copy(connection, target)
    return target.own.rows


def copy_then_add(definitions: Sequence[str]) -> Run:
    """A way that copies as copy() does and then adds keys one by one. `definitions`: as CREATE TABLE has them."""

    def run(target: StatementTarget) -> int:
        with connected(target) as connection:
            _copy(connection, target)
            _add(connection, target, definitions)
        return target.own.rows

    return run


def add(definitions: Sequence[str]) -> Run:
    """A way that adds keys to the last table, which is filled. `definitions`: as CREATE TABLE has them."""

    def run(target: StatementTarget) -> int:
        with connected(target) as connection:
            _add(connection, target, definitions)
        return target.own.rows

    return run


def _copy(connection: Connection, target: StatementTarget) -> None:
    columns = ", ".join(target.own.table.names)
    source = target.tables[-2].name
    execute(connection, f"INSERT INTO {target.own.name} ({columns}) SELECT {columns} FROM {source}")


def _add(connection: Connection, target: StatementTarget, definitions: Sequence[str]) -> None:
    for each in definitions:
        execute(connection, f"ALTER TABLE {target.own.name} ADD {in_scratch_tables(each, target)}")

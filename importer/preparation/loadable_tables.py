"""The tables of a target that the acting person may load into: only these are read, offered and suggested."""

from pathlib import PurePath

from importer.access.policy import may_now, require
from importer.engine.mysql.connection import Connection
from importer.engine.schema.column_names import cleaned_name
from importer.engine.schema.table import Table, list_tables, read_table
from importer.engine.source import archives
from importer.engine.source.formats import registry
from importer.models import Level, Target

UNNAMED = "imported"  # the table for a file without a character that can be in a name
MOST_OFFERED = 50
MOST_READ = 100_000  # names of which those are chosen that the person may load into


def offered_tables(connection: Connection, target: Target, search: str = "") -> list[str]:
    """Names of tables in the target's database that contain `search`, in order, at most MOST_OFFERED."""
    names = list_tables(connection, target.database, search, MOST_READ)
    return [each for each in names if may_now(Level.LOAD, target, target.database, each)][:MOST_OFFERED]


def table_name_of(file_name: str) -> str:
    """The table that a file is probably for: its name without endings, `orders` for orders.csv and orders.csv.gz.

    Of the name remains what can be in the name of a table: no emoji, and no more characters than a table's name has.
    """
    return cleaned_name(_without_endings(file_name)) or UNNAMED


def _without_endings(file_name: str) -> str:
    path = PurePath(file_name)
    if path.suffix.lower() not in archives.ENDINGS:
        return path.stem
    inside = PurePath(path.stem)
    return inside.stem if inside.suffix.lower() in registry.ENDINGS else inside.name


def read_loadable(connection: Connection, target: Target, schema: str, name: str) -> Table:
    """Read a table. Raises Forbidden unless the person may load into it, and TargetProblem if it does not exist."""
    require(Level.LOAD, target, schema, name)
    return read_table(connection, schema, name, lambda near: may_now(Level.LOAD, target, schema, near))

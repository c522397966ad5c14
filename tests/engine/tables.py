"""Table descriptions as a server would give them, for tests that need no server."""

from importer.engine.schema.table import Column, Table


def table(**types: str) -> Table:
    """A table with these columns; a type that ends in `!` is NOT NULL, `#` AUTO_INCREMENT, `=` generated."""
    columns = [
        Column(name, type_.rstrip("!#="), type_[-1] not in "!#", None, type_[-1] == "#", type_[-1] == "=")
        for name, type_ in types.items()
    ]
    return Table("s", "t", "InnoDB", tuple(columns))

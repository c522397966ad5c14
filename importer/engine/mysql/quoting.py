"""Quotes names and texts for SQL statements."""

from importer.engine.errors import TargetProblem

_ESCAPES = str.maketrans({"\\": "\\\\", "'": "\\'", "\0": "\\0", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\x1a": "\\Z"})


def quote_name(name: str) -> str:
    """Quote an identifier; a backtick is doubled (manual, Schema Object Names). Raises TargetProblem for a NUL."""
    if "\0" in name:
        raise TargetProblem(f"The name {name!r} contains a NUL character.", advice="MySQL allows none in names.")
    return "`" + name.replace("`", "``") + "`"


def quote_table(schema: str, table: str) -> str:
    """The table's name, qualified with its schema, as an identifier."""
    return f"{quote_name(schema)}.{quote_name(table)}"


def quote_database(name: str) -> str:
    """A database's name for GRANT, with _ and % escaped, which are wildcards there (manual, GRANT Statement)."""
    return quote_name(name.replace("_", "\\_").replace("%", "\\%"))


def quote_text(text: str) -> str:
    """Quote a string literal (manual, String Literals), for sessions whose sql_mode lacks NO_BACKSLASH_ESCAPES."""
    return "'" + text.translate(_ESCAPES) + "'"


def quote_bytes(value: bytes | None) -> str:
    """A text in UTF-8 as a hexadecimal literal; NULL for None."""
    if value is None:
        return "NULL"
    return f"_utf8mb4 x'{value.hex()}'" if value else "''"

"""Why the server would not take a value, in words for somebody who knows the file but not the server."""

from importer.engine.table import Table
from importer.engine.warnings import ServerWarning

TEXT = ("char", "varchar", "tinytext", "text", "mediumtext", "longtext", "binary", "varbinary", "blob")
LISTS = ("enum", "set")
TIMES = ("date", "datetime", "timestamp", "time", "year")

# Manual, Server Error Message Reference. MariaDB says 1265 where MySQL says 1366, 1292 or 1406.
OUT_OF_RANGE = 1264
MISFITS = (1265, 1292, 1366, 1406)
DUPLICATE = 1062


def reason_for(warning: ServerWarning, table: Table) -> str:
    """What is wrong, with the column's type where that tells more; then the server's own words."""
    plain = _plainly(warning, table)
    return f"{plain} The server says: {warning.reason}" if plain else warning.reason


def _plainly(warning: ServerWarning, table: Table) -> str:
    """ "" where the server's words say all there is."""
    if warning.code == DUPLICATE:
        return "A row with this key is there already: in the table, or earlier in the file."
    column = next((each for each in table.columns if each.name.lower() == warning.column.lower()), None)
    if column is None:
        return ""
    if warning.code not in (OUT_OF_RANGE, *MISFITS):
        return ""
    if column.kind in TIMES:
        return f"The value is not a valid {column.type}."
    if warning.code == OUT_OF_RANGE:
        return f"The value is outside the range of {column.type}."
    if column.kind in LISTS:
        return f"The value is none of {column.type}."
    if column.kind in TEXT and "ncorrect" not in warning.reason:  # an incorrect string is one of another encoding
        return f"The value is too long for {column.type}."
    return f"The value does not fit {column.type}."

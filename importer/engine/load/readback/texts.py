"""What a column keeps of a text that ends in spaces or is too long by white space."""

from importer.engine.schema.charsets import AS_UTF8, MOST_BYTES, WITH_LONG_CHARACTERS
from importer.engine.schema.table import Column
from importer.engine.validation.types.texts import WHITE


def kept_text(column: Column, text: str) -> str:
    """What CHAR or VARCHAR keeps: without white space beyond its length, CHAR also without spaces at the end.

    A longer text stays as it is: the servers refuse it.
    """
    length = column.declared_size
    if length and not text[length:].strip(WHITE):
        text = text[:length]
    return text.rstrip(" ") if column.column_type.fixed else text


def shortens(column: Column, text: str, stored: str) -> bool:
    """Whether the column may have shortened the text to the stored one."""
    if not column.column_type.size:
        return kept_text(column, text) == stored
    return _is_full(column, stored) and text.startswith(stored) and not text[len(stored) :].strip(WHITE)


def _is_full(column: Column, stored: str) -> bool:
    """Whether a TEXT of one of the types with a limit in bytes has no room for another space."""
    if column.charset in AS_UTF8:
        return len(stored.encode()) == column.column_type.size
    most_bytes = MOST_BYTES if column.charset in WITH_LONG_CHARACTERS else 1
    return len(stored) <= column.column_type.size <= most_bytes * len(stored)

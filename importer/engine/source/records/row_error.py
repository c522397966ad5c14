"""An error in a record, found before it is sent or by the server."""

from dataclasses import dataclass

# Characters of a value that are shown; and bytes that contain at least one character more, to recognise a longer value.
LONGEST_VALUE = 1000
LONGEST_SHOWN = 4 * (LONGEST_VALUE + 1)


@dataclass(frozen=True, slots=True)
class RowError:
    """One error or notice in a record.

    - `code`: the server's error number as text, or a word of this program (`stray quote`).
    - `reason`: for people; the same text for all records with the same error.
    - `column`: the table's column, "" if the record as a whole is wrong.
    - `server_message`: the server's own message, if the server found the error.
    - `notice`: the record is not rejected: its value is stored with a small change, and counted.
    - `field`: the file's field, from 1, if it is known and the column is not; else 0.
    """

    code: str
    reason: str
    column: str = ""
    value: str = ""
    notice: bool = False
    server_message: str = ""
    field: int = 0


def shortened(value: str, longest: int = 100) -> str:
    """The value in quotes, cut to `longest` characters; unprintable characters are shown as escapes."""
    return repr(value if len(value) <= longest else value[:longest] + "…")

"""What is wrong with a record: found by us before it is sent, or by the server."""

from dataclasses import dataclass

# Characters of a value that are shown; and bytes that hold at least one more, by which it is seen that there are more.
LONGEST_VALUE = 1000
LONGEST_SHOWN = 4 * (LONGEST_VALUE + 1)


@dataclass(frozen=True, slots=True)
class RowError:
    """One thing wrong with a record. `column` is the table's, "" where the record as a whole is at fault.

    `code` is the server's error number as text, or a word of ours (`stray quote`); `reason` is for people, and the same
    for all records that are at fault in the same way; `said` are the server's own words, if it found the fault. A
    `notice` does not keep the record out: the value goes in, changed a little, and is counted. `field` is the file's,
    from 1, where that is known and the column is not; else 0.
    """

    code: str
    reason: str
    column: str = ""
    value: str = ""
    notice: bool = False
    server_message: str = ""
    field: int = 0


def shortened(value: str, longest: int = 100) -> str:
    """The value in quotes for a line of text: at most so many characters, with what is no character as an escape."""
    return repr(value if len(value) <= longest else value[:longest] + "…")

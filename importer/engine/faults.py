"""What is wrong with a record, as it is found before the server sees it."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Fault:
    """One thing wrong with a record. `column` is the table's, "" where the record as a whole is at fault.

    `code` is the server's error number as text, or a word of ours (`stray quote`); `reason` is for people. A `notice`
    does not keep the record out: the value goes in, changed a little, and is counted.
    """

    code: str
    reason: str
    column: str = ""
    value: str = ""
    notice: bool = False

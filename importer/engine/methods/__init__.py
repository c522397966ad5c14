"""The ways to put a chunk's rows into a table, one file each. All of them report in LOAD DATA's own words."""

import re
from dataclasses import dataclass

_INFO = re.compile(r"Records: (\d+)\s+Deleted: (\d+)\s+Skipped: (\d+)\s+Warnings: (\d+)")


@dataclass(frozen=True)
class Report:
    """What the server says it did with the records it was sent."""

    records: int
    deleted: int = 0
    skipped: int = 0
    warnings: int = 0

    @classmethod
    def from_info(cls, info: bytes | str | None) -> "Report":
        """Read mysql_info()'s line for LOAD DATA (manual, mysql_info())."""
        text = info.decode() if isinstance(info, bytes) else info or ""
        found = _INFO.search(text)
        return cls(*map(int, found.groups())) if found else cls(records=-1)

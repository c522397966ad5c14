"""Units of bytes, and sizes in words."""

import re

UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30}
MIB = 2**20
GIB = 2**30


def human_bytes(count: int) -> str:
    """A size as people say it: 134217728 is "128 MiB"."""
    size = float(count)
    for unit in ("bytes", "KiB", "MiB", "GiB"):
        if size < 1024:
            return f"{size:.4g} {unit}"
        size /= 1024
    return f"{size:.4g} TiB"


def parse_size(text: str) -> int | None:
    """`32M` as bytes, also as 32MB or 32MiB; None for what is no size."""
    found = re.fullmatch(r"(\d+)([KMG]?)i?B?", text, re.IGNORECASE)
    return int(found[1]) * UNITS[found[2].upper()] if found else None


def short_size(count: int) -> str:
    """The inverse of parse_size(): 33554432 is "32M", and what is no whole KiB is a number of bytes."""
    unit = next((each for each in reversed(UNITS) if count and count % UNITS[each] == 0), "")
    return f"{count // UNITS[unit]}{unit}"

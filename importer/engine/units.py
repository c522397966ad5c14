"""Sizes in bytes, to text and from text."""

import re

UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30}
MIB = 2**20
GIB = 2**30


def human_bytes(count: int) -> str:
    """Format a size for people: 134217728 is "128 MiB"."""
    size = float(count)
    for unit in ("bytes", "KiB", "MiB", "GiB"):
        if size < 1024:
            return f"{size:.4g} {unit}"
        size /= 1024
    return f"{size:.4g} TiB"


def parse_size(text: str) -> int | None:
    """The bytes of a size such as `32M`, 32MB or 32MiB; None if the text is no size."""
    match = re.fullmatch(r"(\d+)([KMG]?)i?B?", text, re.IGNORECASE)
    return int(match[1]) * UNITS[match[2].upper()] if match else None


def short_size(count: int) -> str:
    """The inverse of parse_size(): 33554432 is "32M". A size that is no multiple of a KiB has no unit."""
    unit = next((each for each in reversed(UNITS) if count and count % UNITS[each] == 0), "")
    return f"{count // UNITS[unit]}{unit}"

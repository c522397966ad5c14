"""Sizes in bytes, to text and from text."""

import re

UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30}
MIB = 2**20
GIB = 2**30


def count_of(count: int, noun: str) -> str:
    """A number with its noun, which takes an s unless there is one: "1 row", "2,000 rows"."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def human_bytes(count: float) -> str:
    """Format a size for people, with three digits: 134217728 is "128 MiB", 2621440 "2.5 MiB", 1000 "1,000 bytes"."""
    if count < 1024:
        return count_of(round(count), "byte")
    size, unit = count / 1024, "KiB"
    for larger in ("MiB", "GiB", "TiB"):
        # 1,000 KiB would have four digits.
        if size < 999.5:
            break
        size, unit = size / 1024, larger
    return f"{size:,.0f} {unit}" if size >= 99.95 else f"{size:.3g} {unit}"


def human_rate(bytes_per_second: float) -> str:
    """Format bytes per second for people: 20971520 is "20 MiB/s"."""
    return f"{human_bytes(bytes_per_second)}/s"


def parse_size(text: str) -> int | None:
    """The bytes of a size such as `32M`, 32MB or 32MiB; None if the text is no size."""
    match = re.fullmatch(r"(\d+)([KMG]?)i?B?", text, re.IGNORECASE)
    return int(match[1]) * UNITS[match[2].upper()] if match else None


def short_size(count: int) -> str:
    """The inverse of parse_size(): 33554432 is "32M". A size that is no multiple of a KiB has no unit."""
    unit = next((each for each in reversed(UNITS) if count and count % UNITS[each] == 0), "")
    return f"{count // UNITS[unit]}{unit}"

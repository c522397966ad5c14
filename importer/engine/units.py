"""Sizes in bytes, to text and from text."""

import re

UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30}
MIB = 2**20
GIB = 2**30
# How many decimals seconds have from there on.
_DECIMALS = ((99.95, 0), (9.995, 1), (0.0995, 2), (0.00995, 3))


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


def human_seconds(seconds: float) -> str:
    """Format seconds for people: 412 is "412 s", 12.34 "12.3 s", 0.42 "0.42 s", 0.0714 "71 ms", 0.0018 "1.8 ms"."""
    shown = shown_seconds(seconds)
    if 0 < shown < 0.1:
        return f"{1000 * shown:.0f} ms" if shown >= 0.01 else f"{1000 * shown:.1f} ms"
    return f"{shown:,.0f} s" if shown >= 100 or not shown else f"{shown:.1f} s" if shown >= 10 else f"{shown:.2f} s"


def shown_seconds(seconds: float) -> float:
    """Seconds as human_seconds() writes them: the ratio of two times that a reader sees is that of these."""
    decimals = next((digits for least, digits in _DECIMALS if seconds >= least), 4)
    return round(seconds, decimals)


def parse_size(text: str) -> int | None:
    """The bytes of a size such as `32M`, 32MB or 32MiB; None if the text is no size."""
    match = re.fullmatch(r"(\d+)([KMG]?)i?B?", text, re.IGNORECASE)
    return int(match[1]) * UNITS[match[2].upper()] if match else None


def short_size(count: int) -> str:
    """The inverse of parse_size(): 33554432 is "32M". A size that is no multiple of a KiB has no unit."""
    unit = next((each for each in reversed(UNITS) if count and count % UNITS[each] == 0), "")
    return f"{count // UNITS[unit]}{unit}"

"""Generates columns of text as arrays of bytes, fast enough for files of millions of rows (about 100 MB/s).

A column is a matrix of bytes with one row per record, padded with 0; `lines` drops the padding. Values come from
`random_raw` of PCG64, because numpy keeps only that stream stable between versions (numpy, Compatibility policy of
numpy.random).
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.int64]
Text = NDArray[np.uint8]

ALPHANUMERIC = np.frombuffer(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", np.uint8)
HEX_DIGITS = np.frombuffer(b"0123456789ABCDEF", np.uint8)


class SeededRandom:
    """Random values from a seed, the same on every machine."""

    def __init__(self, *seed: int) -> None:
        self._bits = np.random.PCG64(seed)

    def below(self, bound: int, count: int) -> Numbers:
        """`count` numbers from 0 to `bound` - 1."""
        return (self._bits.random_raw(count) % np.uint64(bound)).astype(np.int64)

    def between(self, least: int, most: int, count: int) -> Numbers:
        """`count` numbers from `least` to `most`, both included."""
        return self.below(most - least + 1, count) + least

    def strings(self, least: int, most: int, count: int) -> Text:
        """`count` strings of `least` to `most` letters and digits."""
        lengths = self.between(least, most, count)
        drawn = ALPHANUMERIC[self._bytes(count, most) % len(ALPHANUMERIC)]
        drawn[np.arange(most)[None, :] >= lengths[:, None]] = 0
        return drawn

    def hexadecimal(self, size: int, count: int) -> Text:
        """`count` strings of `size` random bytes, each byte as two hexadecimal digits."""
        digits: Text = HEX_DIGITS[self._bytes(count, 2 * size) & 15]
        return digits

    def _bytes(self, count: int, width: int) -> Text:
        words = self._bits.random_raw(-(-count * width // 8))
        # Little-endian, so that the bytes are the same on big-endian machines.
        return words.astype("<u8").view(np.uint8)[: count * width].reshape(count, width)


def whole(values: Numbers, digits: int) -> Text:
    """Numbers from 0 with at most `digits` digits, without leading zeros."""
    text = padded(values, digits)
    leading = np.cumprod(text[:, :-1] == ord("0"), axis=1, dtype=bool)
    text[:, :-1][leading] = 0
    return text


def padded(values: Numbers, digits: int) -> Text:
    """Numbers from 0 with exactly `digits` digits, with leading zeros."""
    text = np.empty((len(values), digits), np.uint8)
    rest = values
    for position in range(digits - 1, -1, -1):
        rest, digit = np.divmod(rest, 10)
        text[:, position] = digit + ord("0")
    return text


def decimal(values: Numbers, digits: int, decimals: int) -> Text:
    """Decimals given as integers in units of the last place, -1234 for -12.34; at most `digits` before the point."""
    before, after = np.divmod(np.abs(values), 10**decimals)
    sign = np.where(values < 0, ord("-"), 0).astype(np.uint8)[:, None]
    point = np.full((len(values), 1), ord("."), np.uint8)
    return np.hstack([sign, whole(before, digits), point, padded(after, decimals)])


def chosen(values: Sequence[str], positions: Numbers) -> Text:
    """One of the values (ASCII) for each row."""
    encoded = [value.encode() for value in values]
    width = max(map(len, encoded))
    table = np.frombuffer(b"".join(each.ljust(width, b"\0") for each in encoded), np.uint8).reshape(-1, width)
    text: Text = table[positions]
    return text


def lines(columns: Sequence[Text], separator: str) -> bytes:
    """One line for each row, its columns in order."""
    count = len(columns[0])
    marks = [np.full((count, 1), ord(mark), np.uint8) for mark in separator * (len(columns) - 1) + "\n"]
    flat = np.hstack([part for pair in zip(columns, marks, strict=True) for part in pair]).ravel()
    return bytes(flat[flat != 0].tobytes())

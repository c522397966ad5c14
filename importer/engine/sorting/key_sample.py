"""Samples a file's keys: for the borders of equal shares, and to tell whether the file is in order."""

import re
from dataclasses import dataclass

from importer.engine.sorting.sort_key import SortKey
from importer.engine.source.arrays import Keys, Mask, np
from importer.engine.source.byte_source import Readable
from importer.engine.source.dialect import Dialect
from importer.engine.source.records.blocks import Block, read_exactly
from importer.engine.source.records.boundary.boundaries import find_ends
from importer.engine.source.records.boundary.state_machine import RECORD_ENDS

WINDOWS = 64
WINDOW_BYTES = 32 * 1024
# The limit on the share of all keys that the middle four fifths of a window's keys span: about 0 in a file in order,
# about 0.8 in a shuffled one.
NEARLY = 0.2


@dataclass(frozen=True)
class KeyOrder:
    """How well a sample's records are in the order of their keys.

    `ascending`: the share of neighbouring records in order. `spread`: the share of all keys that the keys of
    neighbouring records span.
    """

    ascending: float
    spread: float

    @property
    def fits(self) -> bool:
        """Whether records that are loaded together go into neighbouring pages of the table."""
        return self.spread < NEARLY

    @property
    def description(self) -> str:
        """In words: `in order`, `nearly in order`, `not in order`."""
        if not self.fits:
            return "not in order"
        return "in order" if self.ascending == 1 else "nearly in order"


def key_order(fd: Readable, dialect: Dialect, key: SortKey, start: int, end: int) -> KeyOrder | None:
    """The order of the records in [start, end) of an open file; None if too few of them have a key.

    Falling keys are no order: the servers fill pages well in the other direction only.
    """
    windows = [keys for keys in _windows(fd, dialect, key, start, end) if len(keys) > 1]
    if not windows:
        return None
    together = np.concatenate(windows)
    _, ranks = np.unique(together, return_inverse=True)
    most = max(1, int(ranks.max()))
    parts = np.split(ranks, np.cumsum([len(keys) for keys in windows])[:-1])
    spans = [(np.quantile(part, 0.9) - np.quantile(part, 0.1)) / most for part in parts]
    return KeyOrder(float(np.mean(ranks[1:] >= ranks[:-1])), float(np.mean(spans)))


def sampled_keys(fd: Readable, dialect: Dialect, key: SortKey, start: int, end: int) -> Keys:
    """Keys from windows all over [start, end) of an open file."""
    return np.concatenate([np.empty(0, key.dtype), *_windows(fd, dialect, key, start, end)])


def _windows(fd: Readable, dialect: Dialect, key: SortKey, start: int, end: int) -> list[Keys]:
    """The keys of each window's records, in the file's order.

    A window may begin inside quotes. Its keys are then of little use, but do no harm.
    """
    count = max(1, min(WINDOWS, (end - start) // WINDOW_BYTES))
    windows = []
    for number in range(count):
        at = start + (end - start) * number // count
        data = read_exactly(fd, min(WINDOW_BYTES, end - at), at)
        if number:
            first_end = re.search(RECORD_ENDS[dialect.line_end], data)
            data = data[first_end.end() :] if first_end else b""
        ends = find_ends(data, dialect, final=False) if data else None
        if ends and ends.size:
            keys, known = key.keys(fd, Block(at, 1, ends.size, 0, ends, data), dialect)
            windows.append(keys[known])
    return windows


def share_borders(sample: Keys, shares: int) -> tuple[Keys, Mask]:
    """The keys, ascending, that divide the sample into about equal `shares`, and a mask of the most frequent of them.

    A frequent key makes a share by itself.
    """
    if not len(sample) or shares < 2:
        return sample[:0], np.zeros(0, bool)
    ordered = np.sort(sample)
    cuts = ordered[(np.arange(1, shares) * len(ordered)) // shares]
    values, counts = np.unique(cuts, return_counts=True)
    return values, counts > 1

"""The ways to load a workload that are compared; way() makes one from its name."""

import re

from bench.ways.exchange import Exchange
from bench.ways.inserts import Copy, Insert
from bench.ways.millrace import Millrace
from bench.ways.raw import Pieces, Single, Split
from bench.ways.way import AFTER, BEFORE, Way, drop_tables, empty_tables

__all__ = [
    "AFTER",
    "BEFORE",
    "SAMPLE",
    "USUAL",
    "WORDS",
    "Millrace",
    "Pieces",
    "Way",
    "drop_tables",
    "empty_tables",
    "way",
]

USUAL = (
    "single", "split-1", "split-2", "split-4", "split-8", "after-1", "after-2", "after-4", "after-8",
    "insert-1", "insert-1000", "copy", "millrace",
)  # fmt: skip
# Rows of a way that sends single rows.
SAMPLE = 20_000
WORDS = """
  single              LOAD DATA LOCAL of the whole file
  split-N             LOAD DATA LOCAL of 8 files, over N sessions
  after-N             as split-N, with the secondary keys built afterwards
  exchange-N          a staging table for each partition, keys built over N sessions, then EXCHANGE PARTITION
  insert-N            INSERT with N rows each by a script, in one transaction; on a sample of the rows
  insert-N@M          as insert-N, with a COMMIT after every M statements
  copy                INSERT ... SELECT
  millrace            Millrace with the defaults
  millrace:NAME=VALUE,...  with these options, such as method=insert,rows_per_statement=40
"""


def way(name: str, sample: int = SAMPLE) -> Way:
    """The way with this name (WORDS). `sample`: how many rows a way that sends single rows loads."""
    if match := re.fullmatch(r"(split|after)-(\d+)", name):
        return Split(int(match[2]), BEFORE if match[1] == "split" else AFTER)
    if match := re.fullmatch(r"exchange-(\d+)", name):
        return Exchange(int(match[1]))
    if match := re.fullmatch(r"insert-(\d+)(?:@(\d+))?", name):
        return Insert(int(match[1]), int(match[2] or 0), sample=sample)
    if match := re.fullmatch(r"millrace(?::(.+))?", name):
        options = match[1].split(",") if match[1] else []
        return Millrace(dict(each.split("=", 1) for each in options))
    simple = {"single": Single, "copy": Copy}
    assert name in simple, f"There is no way {name!r}. There are:{WORDS}"
    return simple[name]()

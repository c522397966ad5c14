"""The values of a file of the corpus by readers that are not ours: Python's csv and json, and openpyxl.

They read it with the truth that was written down by people who looked at the file (truth.py).
"""

import csv
import hashlib
import io
import json
import re
import warnings
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any

import openpyxl

from tests.reading.corpus.truth import Sample

NULL = r"\N"
_LINE = re.compile(r"[^\r\n]*(?:\r*\n|\r)|[^\r\n]+")
_MIDNIGHT = " 00:00:00"


def records_of(sample: Sample) -> list[tuple[str, ...]]:
    """All records of the file as texts, with the names of the header first if it has one."""
    truth = sample.truth
    if truth.format == "json":
        return list(_of_objects(json.loads(sample.content, parse_float=str, parse_int=str)))
    if truth.format == "workbook":
        return list(_of_sheet(sample))
    text = sample.content.decode(truth.encoding).removeprefix("\ufeff")
    kept = (line for number, line in enumerate(_LINE.findall(text), 1) if number not in truth.skipped)
    quoting = csv.QUOTE_MINIMAL if truth.quote else csv.QUOTE_NONE
    read = csv.reader(kept, delimiter=truth.delimiter, quotechar=truth.quote or None, quoting=quoting,
                      skipinitialspace=truth.blanks)  # fmt: skip
    return plain((tuple(record) for record in read if record), truth.blanks)


def plain(records: Iterable[tuple[str, ...]], blanks: bool) -> list[tuple[str, ...]]:
    """The records; without the blanks around values if they are no part of them."""
    return [tuple(value.strip(" ") for value in record) if blanks else record for record in records]


def digest_of(records: list[tuple[str, ...]]) -> str:
    """The digest of a file's records that is written down with its truth."""
    return hashlib.sha256(json.dumps(records).encode()).hexdigest()[:12]


def _of_objects(objects: list[dict[str, Any]]) -> Iterator[tuple[str, ...]]:
    names = tuple(dict.fromkeys(name for each in objects for name in each))
    yield names
    for each in objects:
        yield tuple(NULL if each.get(name) is None else str(each[name]) for name in names)


def _of_sheet(sample: Sample) -> Iterator[tuple[str, ...]]:
    with warnings.catch_warnings(action="ignore"):
        book = openpyxl.load_workbook(io.BytesIO(sample.content), data_only=True)
    sheet = book[sample.truth.sheet] if sample.truth.sheet else book.active
    named = False
    for number, row in enumerate(sheet.iter_rows(values_only=True), 1):
        if number not in sample.truth.skipped:
            yield tuple(map(cell, row)) if named else tuple(cell(each).replace(NULL, "") for each in row)
            named = True


def cell(value: Any) -> str:
    """A cell's value as text: a moment without the time of midnight, truth in small letters."""
    if value is None:
        return NULL
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, datetime):
        return str(value).removesuffix(_MIDNIGHT)
    return str(value)

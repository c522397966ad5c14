"""Copies of records in which a spreadsheet finds no formula, with any delimiter, quote and line end."""

import csv
import io
import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from importer.engine.load.rejects.formulas import defused, defused_csv, escape_formulas
from importer.engine.source.dialect import RFC4180

WIDE = "\uff1d"  # the full-width equals sign
TEXTS = st.text("=+-@\t\r\n,;|\"' a1.ä" + WIDE, max_size=12)


def copied(*pieces: bytes, dialect=RFC4180) -> list[list[str]]:
    text = b"".join(defused_csv(pieces, dialect)).decode("utf-8-sig")
    return list(csv.reader(io.StringIO(text, newline=""), strict=True))


@pytest.mark.parametrize(
    "text", ["=1+1", "+1-1", "-1+1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", f"{WIDE}1", "-", "+", "--1"]
)
def test_a_value_that_begins_like_a_formula_gets_an_apostrophe(text):
    assert escape_formulas(text) == f"'{text}"
    assert defused(text).startswith(f"'{text[0]}")


@pytest.mark.parametrize("text", ["", "a=1", "1-1", "-5", "+3.2", "-.5", "5@x", "a + b", "2026-01-01"])
def test_other_values_and_plain_numbers_stay(text):
    assert escape_formulas(text) == defused(text) == text


def test_records_of_any_dialect_become_quoted_values():
    semicolons = replace(RFC4180, delimiter=";", header=False)
    assert copied(b'=cmd|x;"a""b";-5\n"x;=y";\\N;\xe4\n', dialect=replace(semicolons, encoding="cp1252")) == [
        ["'=cmd|x", 'a"b', "-5"],
        ["x;'=y", "\\N", "ä"],
    ]
    assert copied(b"\xef\xbb\xbfid,name\n=1,2\n") == [["id", "name"], ["'=1", "2"]]
    assert copied(b"1,\xff\n") == [["1", "\\xff"]]
    # Only at the beginning of all is it the mark of the file.
    assert copied(b"\xef\xbb\xbf1\n", b"\xef\xbb\xbf2\n") == [["1"], ["\ufeff2"]]


@given(st.lists(st.lists(TEXTS, min_size=1, max_size=4), min_size=1, max_size=4))
def test_no_cell_begins_a_formula_in_any_reading(rows):
    written = io.StringIO(newline="")
    csv.writer(written, quoting=csv.QUOTE_ALL, lineterminator="\n").writerows(rows)
    data = written.getvalue().encode()
    assert copied(data) == [[defused(value) for value in row] for row in rows]
    text = b"".join(defused_csv([data], RFC4180)).decode("utf-8-sig")
    for cell in re.split(r'[,;|"\t\r\n]', text):
        assert not re.match(f"[=+@{WIDE}-]", cell) or re.fullmatch(r"[+-](\d+\.?\d*|\.\d+)", cell)

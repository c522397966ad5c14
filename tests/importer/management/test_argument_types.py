"""What the command line's options may be."""

import argparse

import pytest

from importer.engine.mapping.columns import FieldOverride, GeneratedColumn
from importer.management.argument_types import asked_field, bounded, filling, level, percent, rows, size, variable


def test_what_is_meant():
    assert (size("32M"), size("1g"), size("512KiB")) == (32 * 2**20, 2**30, 512 * 2**10)
    assert (rows("0"), rows("1000000")) == (0, 1_000_000)
    assert (percent("0"), percent("0.5"), percent("2.5%"), percent("100")) == (0, 0.5, 2.5, 100)
    assert (bounded(1, 64)("1"), bounded(1, 64)("64")) == (1, 64)
    assert (level("read committed"), level("Repeatable-Read")) == ("READ-COMMITTED", "REPEATABLE-READ")
    assert variable("Sort_Buffer_Size = 4M") == ("sort_buffer_size", "4M")


def test_fields_and_columns():
    assert asked_field("a=b") == FieldOverride("a", "b")
    assert asked_field("#3=") == FieldOverride("#3", "")
    assert asked_field("a=b:trim,decimal-comma,null=,null=NA") == FieldOverride(
        "a", "b", ("trim", "decimal-comma"), ("", "NA")
    )
    assert asked_field("a=b:trim,date=%d.%m.%Y, %H:%i") == FieldOverride("a", "b", ("trim",), None, "%d.%m.%Y, %H:%i")
    assert asked_field("a=b:date=%Y") == FieldOverride("a", "b", None, None, "%Y")


def test_columns_and_values():
    assert filling("a=b=c") == GeneratedColumn("a", "text", "b=c")
    assert filling("a=") == GeneratedColumn("a", "text", "")
    assert filling("a=@row") == GeneratedColumn("a", "row")
    assert filling("a=@@row") == GeneratedColumn("a", "text", "@row")


@pytest.mark.parametrize(
    ("read", "text"),
    [
        *((size, text) for text in ("", "0", "-1", "1.5M", "M")),
        *((rows, text) for text in ("", "-1", "1.5", "1e3", "²", "9" * 19)),
        *((percent, text) for text in ("", "-1", "101", "100.1", "nan", "1e1", "½", "%")),
        *((asked_field, text) for text in ("a", "=b", "a=b:sleep(1)", "a=b:trim decimal-comma", "a=b:@x")),
        *((filling, text) for text in ("a", "=1", "a=@now", "a=@", "a=@text")),
        *((bounded(1, 64), text) for text in ("", "0", "65", "two", "²")),
        *((variable, text) for text in ("", "a", "a=", "=1")),
    ],
)
def test_what_is_not(read, text):
    with pytest.raises(argparse.ArgumentTypeError):
        read(text)

"""Types of command-line options: accepted and refused texts."""

import argparse

import pytest

from importer.engine.mapping.columns import FieldOverride, GeneratedColumn, Lookup
from importer.engine.plan.option_specs import named
from importer.engine.source.formats.fixed_width import widths_text
from importer.engine.source.formats.own_line_ends import line_end_of, line_start_of
from importer.management.argument_types import (
    bounded,
    checked,
    field_mapping,
    generated_column,
    percent,
    rows,
    size,
    typed,
)


def test_numbers_sizes_levels_and_variables_are_converted():
    assert (size("32M"), size("1g"), size("512KiB")) == (32 * 2**20, 2**30, 512 * 2**10)
    assert (rows("0"), rows("1000000")) == (0, 1_000_000)
    assert (percent("0"), percent("0.5"), percent("2.5%"), percent("100")) == (0, 0.5, 2.5, 100)
    assert (bounded(1, 64)("1"), bounded(1, 64)("64")) == (1, 64)
    assert tuple(map(typed(named("isolation").kind), ("read committed", "Repeatable-Read"))) == (
        "READ-COMMITTED",
        "REPEATABLE-READ",
    )
    assert typed(named("session").kind)("Sort_Buffer_Size = 4M") == ("sort_buffer_size", "4M")


@pytest.mark.parametrize(
    ("read", "text", "said"),
    [
        (line_end_of, "x" * 17, "1 to 16 characters"),
        (line_start_of, r"\x00", "1 to 16"),
        (widths_text, "a", "no widths"),
    ],
)
def test_a_format_option_that_its_format_refuses_is_refused_in_its_words(read, text: str, said: str):
    with pytest.raises(argparse.ArgumentTypeError, match=said):
        checked(read)(text)


def test_a_field_mapping_has_column_transforms_markers_and_date_format():
    assert field_mapping("a=b") == FieldOverride("a", "b")
    assert field_mapping("#3=") == FieldOverride("#3", "")
    assert field_mapping("a=b:trim,decimal-comma,null=,null=NA") == FieldOverride(
        "a", "b", ("trim", "decimal-comma"), ("", "NA")
    )
    assert field_mapping("a=b:trim,date=%d.%m.%Y, %H:%i") == FieldOverride("a", "b", ("trim",), None, "%d.%m.%Y, %H:%i")
    assert field_mapping("a=b:date=%Y") == FieldOverride("a", "b", None, None, "%Y")


def test_a_field_mapping_has_values_that_are_replaced():
    assert field_mapping("a=b:aktiv>active,trim,>none,gone>,null=x>y").values == (
        ("aktiv", "active"),
        ("", "none"),
        ("gone", ""),
    )
    assert field_mapping(r"a=b:x\,y>a\>b\\,\null=1>2\>3,\date=x>y,date=%Y") == FieldOverride(
        "a", "b", None, None, "%Y", (("x,y", "a>b\\"), ("null=1", "2>3"), ("date=x", "y"))
    )


def test_a_field_mapping_has_a_lookup():
    assert field_mapping("a=b:trim,lookup(s.team.name)") == FieldOverride(
        "a", "b", ("trim",), lookup=Lookup("team", "name", "s")
    )
    assert Lookup.of("team.name").words == "lookup(team.name)"


def test_a_generated_column_has_a_text_or_a_source():
    assert generated_column("a=b=c") == GeneratedColumn("a", "text", "b=c")
    assert generated_column("a=") == GeneratedColumn("a", "text", "")
    assert generated_column("a=@row") == GeneratedColumn("a", "row")
    assert generated_column("a=@@row") == GeneratedColumn("a", "text", "@row")


@pytest.mark.parametrize(
    ("read", "text"),
    [
        *((size, text) for text in ("", "0", "-1", "1.5M", "M")),
        *((rows, text) for text in ("", "-1", "1.5", "1e3", "²", "9" * 19)),
        *((percent, text) for text in ("", "-1", "101", "100.1", "nan", "1e1", "½", "%")),
        *(
            (field_mapping, text)
            for text in ("a", "=b", "a=b:sleep(1)", "a=b:trim decimal-comma", "a=b:@x", "a=b:x>1,x>2", "a=b:x>1:y>2")
        ),
        *((generated_column, text) for text in ("a", "=1", "a=@now", "a=@", "a=@text")),
        *((bounded(1, 64), text) for text in ("", "0", "65", "two", "²")),
        *((typed(named("session").kind), text) for text in ("", "a", "a=", "=1")),
    ],
)
def test_a_wrong_text_is_refused(read, text):
    with pytest.raises(argparse.ArgumentTypeError):
        read(text)

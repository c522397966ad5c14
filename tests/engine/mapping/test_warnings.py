"""Notes about a mapping, from the sample."""

import pytest

from importer.engine.mapping.columns import ColumnMapping
from importer.engine.mapping.warnings import mapping_notes
from importer.engine.schema.table import Column, Table
from importer.engine.source.profile.profile import profile_file

TABLE = Table("s", "t", "InnoDB", tuple(Column(name, "varchar(9)", True, None, False, False) for name in "ab"))


@pytest.mark.parametrize(
    ("text", "note"),
    [
        ("a;b\n1;2\n;\n3;4\n", "Of the first 3 records 1 has no value in any field, such as line 3;"),
        ("a;b\n1;2\n ;\n;\n;3\n", "Of the first 4 records 2 have no value in any field, such as line 3;"),
        ("a;b\n1;2\n\n;3\n", ""),
    ],
)
def test_records_without_a_value_are_noted(source, text: str, note: str):
    said = mapping_notes(profile_file(source(text)), TABLE, [*map(ColumnMapping, "ab")])
    notes = [each for each in said if "field," in each]
    assert [each[: len(note)] for each in notes] == [note] * bool(note)


def test_a_value_is_judged_as_the_chosen_transform_reads_it(source):
    table = Table("s", "t", "InnoDB", (Column("at", "datetime", False, None, False, False),))
    profile = profile_file(source("at\n1700000000\n"))
    assert mapping_notes(profile, table, [ColumnMapping("at", transforms=("unix-seconds",))]) == ()
    assert mapping_notes(profile, table, [ColumnMapping("at", transforms=("unix-milliseconds",))]) == ()
    [note] = mapping_notes(profile, table, [ColumnMapping("at", transforms=("excel-date",))])
    assert note.endswith("it will be a bad row, unless read in another way; the column takes no NULL.")

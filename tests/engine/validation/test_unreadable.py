"""Values that a format or a transform cannot read are found without a server, in each kind of block."""

import pytest

from importer.engine.source.dialect import Dialect
from importer.engine.source.records.blocks import blocks
from importer.engine.validation import FieldCheck, ValidationRules
from importer.engine.validation.unreadable import conversions, find_unreadable
from tests.engine.reference import in_file

CHECKS = (
    FieldCheck("id", "int"),
    FieldCheck("day", "date", True, ("",), "%d.%m.%Y", ("trim",)),
    FieldCheck("amount", "decimal(9,2)", True, ("NA",), "", ("decimal-comma",)),
    FieldCheck("name", "varchar(9)", True, (), "", ("trim",)),
)
ROWS = (
    ("1", "31.12.2024", "1,5", " a"),
    ("2", "31.02.2024", "1,5", ""),
    ("3", " 01.01.2024 ", "NA", ""),
    ("4", "", "1.5,0", ""),
    ("5", '"2024-01-01"', "x", ""),
    ("6", "1.1.", "1"),
)


@pytest.mark.parametrize("delimiter", [";", "||"])
def test_only_the_values_that_are_not_read(delimiter: str):
    dialect = Dialect(delimiter=delimiter, header=False)
    data = "".join(delimiter.join(row) + "\n" for row in ROWS).encode()
    rules = ValidationRules(dialect, CHECKS, mariadb=True).validator.rules
    with in_file(data) as fd:
        found = [
            each
            for block in blocks(fd, dialect, 0, 1, len(data))
            for each in find_unreadable(block, dialect, conversions(rules), len(rules))
        ]
    day, amount = (
        "The value cannot be read as 31.12.2026 (day.month.year).",
        "The value cannot be read as decimal comma.",
    )
    assert sorted((record, error.column, error.reason) for record, error in found) == [
        (1, "day", day),
        (3, "amount", amount),
        (4, "amount", amount),
        (4, "day", day),
    ]

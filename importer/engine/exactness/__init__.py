"""What the server would change in silence: found in the file's bytes, before they are sent.

LOAD DATA stores 2 for `1.5` in an INT, 2024 for the year 24, `abc` for `abc  ` in a CHAR, and says nothing (facts.md).
An Exactness knows, for each field of the file, what the column it goes into keeps as it is.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from importer.engine.dialect import Dialect
from importer.engine.faults import Fault
from importer.engine.mapping import ColumnMapping
from importer.engine.records import fields, records
from importer.engine.scanner import Block
from importer.engine.table import Table


@dataclass(frozen=True)
class FieldCheck:
    """How one field is checked. `kind` is short, such as `int unsigned` or `decimal 10 2`; "" is not checked.

    `column` is the table's, "" for a field that is left out. `null_markers` become NULL, which only a `nullable` column
    takes.
    """

    column: str
    kind: str = ""
    nullable: bool = True
    null_markers: tuple[str, ...] = ()


@dataclass
class Examination:
    """What is wrong with the records of a block, each by its number in the block (from 0), in order.

    `notices` counts values that go in with something lost, of which the server says nothing; `noted` those for which it
    says a Note of its own, one for each value. Both are counted by Fault without a value, over the records that have
    no fault.
    """

    faults: list[tuple[int, Fault]] = field(default_factory=list)
    notices: Counter[Fault] = field(default_factory=Counter)
    noted: Counter[Fault] = field(default_factory=Counter)


@dataclass(frozen=True)
class Exactness:
    """The checks of one import, one for each field of the file. `reject_rounding`: a notice is a fault."""

    dialect: Dialect
    checks: tuple[FieldCheck, ...]
    mariadb: bool
    reject_rounding: bool = False

    @classmethod
    def of(
        cls, dialect: Dialect, mapping: Sequence[ColumnMapping], table: Table, *, mariadb: bool, rounding: str
    ) -> "Exactness":
        """The checks for a file in this dialect that goes into the table. `rounding` is Options.rounding."""
        return cls(dialect, tuple(_check(each, table) for each in mapping), mariadb, rounding == "reject")

    def suspicious(self, block: Block) -> bool:
        """Whether examine() may find anything in the block. Says no only where it is certain; fast."""
        return not block.data

    def examine(self, block: Block) -> Examination:
        """Every fault and notice of the block's records; `block.data` must be there, even for a large record."""
        found = Examination()
        for number, record in enumerate(records(block.data[: block.size], self.dialect)):
            count = len(fields(block.data[record.start : record.end], self.dialect))
            if count != len(self.checks):
                found.faults.append((number, _wrong_count(count, len(self.checks))))
        return found

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> "Exactness":
        checks = tuple(FieldCheck(**{**each, "null_markers": tuple(each["null_markers"])}) for each in values["checks"])
        return cls(**{**values, "dialect": Dialect(**values["dialect"]), "checks": checks})


def _check(mapping: ColumnMapping, table: Table) -> FieldCheck:
    if not mapping.column:
        return FieldCheck("")
    column = table.column(mapping.column)
    nullable = column.nullable or column.auto_increment
    return FieldCheck(column.name, "", nullable, mapping.null_markers)


def _wrong_count(count: int, wanted: int) -> Fault:
    code = "1261" if count < wanted else "1262"
    return Fault(code, f"The row has {count} field{'' if count == 1 else 's'} instead of {wanted}.")

"""Which field of the file goes into which column of the table, and how its text is read."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from importer.engine.table import Table


@dataclass(frozen=True)
class ColumnMapping:
    """One field of the file, by position.

    `column` "" leaves the field out. A value equal to one of `null_markers`, byte for byte, becomes NULL.
    `datetime_format` is one of STR_TO_DATE's, such as `%Y-%m-%dT%H:%i:%sZ`; "" leaves reading to the server.
    """

    column: str
    null_markers: tuple[str, ...] = ()
    datetime_format: str = ""

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> "ColumnMapping":
        return cls(values["column"], tuple(values["null_markers"]), values["datetime_format"])


def map_by_name(header: Sequence[str], table: Table) -> tuple[ColumnMapping, ...]:
    """A mapping for each field of the header to the column of the same name, ignoring case and outer spaces."""
    columns = {column.name.lower(): column.name for column in table.columns if not column.generated}
    return tuple(ColumnMapping(columns.pop(name.strip().lower(), "")) for name in header)

"""The rows of the columns card: what becomes of each field of the file and of each column of the table."""

from dataclasses import dataclass

from dashboard.new_import.form import show_markers
from importer.engine.mapping.columns import ColumnMapping, GeneratedColumn
from importer.engine.mapping.transforms import FALSE_WORDS, TRANSFORMS, TRUE_WORDS, Transform, fitting
from importer.engine.schema.table import Column

TRIMS = [each for each in TRANSFORMS.values() if each.cleans]
# What can fill a column without a field.
FILLINGS = {
    "text": "this text",
    "file": "the file's name",
    "row": "the record's number",
    "line": "the line in the file",
    "time": "the time of the import (UTC)",
}
# The words in lower case, for people.
WORDS = (
    f"yes: {', '.join(dict.fromkeys(map(str.lower, TRUE_WORDS)))};"
    f" no: {', '.join(dict.fromkeys(map(str.lower, FALSE_WORDS)))}"
)


@dataclass(frozen=True)
class Field:
    """One field of the file as the form shows it: its name, some of its values, and what becomes of it.

    `asked_type` is what was written as its type where that cannot be.
    """

    number: int
    name: str
    samples: tuple[str, ...]
    mapping: ColumnMapping
    column: Column | None
    asked_type: str = ""

    @property
    def markers(self) -> str:
        return show_markers(self.mapping.null_markers)

    @property
    def temporal(self) -> bool:
        return self.column is not None and self.column.column_type.is_temporal

    @property
    def readings(self) -> list[Transform]:
        """The transforms that its column offers, without the value as it is."""
        return [each for each in fitting(self.column) if not each.cleans] if self.column else []

    @property
    def reading(self) -> Transform | None:
        """The one that was chosen."""
        return next((each for each in self.readings if each.name in self.mapping.transforms), None)

    @property
    def hint(self) -> str:
        """What the chosen reading does."""
        reading = self.reading
        if reading is None:
            return ""
        return WORDS if reading.name == "yes-no" else reading.example


@dataclass(frozen=True)
class UnmappedColumn:
    """A column that no field goes into, by its place in the table, and what it gets instead."""

    number: int
    column: Column
    filling: GeneratedColumn | None

    @property
    def otherwise(self) -> str:
        """What it gets if nobody says anything."""
        if self.column.required:
            return "must have a value"
        if self.column.generated:
            return "computed by the server"
        if self.column.auto_increment:
            return "numbered by the server"
        # MariaDB writes the default NULL as a word.
        return "NULL" if self.column.default in (None, "NULL") else f"default {self.column.default}"


@dataclass(frozen=True)
class Cell:
    """A value of the preview as it will arrive; `was` is what the file has, where that is another text.

    `null`: it becomes NULL. `bad`: it is none that the column takes. `unmapped`: it goes nowhere.
    """

    text: str
    null: bool = False
    unmapped: bool = False
    bad: bool = False
    was: str = ""

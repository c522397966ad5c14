"""The rows of the columns card: the mapping of each field of the file, and the content of each unmapped column."""

from dataclasses import dataclass

from dashboard.new_import.null_markers import show_markers
from importer.engine.mapping.columns import ColumnMapping, GeneratedColumn
from importer.engine.mapping.transforms import FALSE_WORDS, TRANSFORMS, TRUE_WORDS, Transform, transforms_for
from importer.engine.schema.table import Column

TRIMS = [each for each in TRANSFORMS.values() if each.cleans]
# The sources that can fill a column without a field.
FILLINGS = {
    "text": "this text",
    "file": "the file's name",
    "row": "the record's number",
    "line": "the line in the file",
    "time": "the time of the import (UTC)",
}
# The words that the transform yes-no accepts, in lower case.
WORDS = (
    f"yes: {', '.join(dict.fromkeys(map(str.lower, TRUE_WORDS)))};"
    f" no: {', '.join(dict.fromkeys(map(str.lower, FALSE_WORDS)))}"
)


@dataclass(frozen=True)
class Field:
    """One field of the file as the form shows it: its name, some of its values, and its mapping.

    `wrong_type`: the text that was entered as the column's type, if that is invalid.
    """

    number: int
    name: str
    samples: tuple[str, ...]
    mapping: ColumnMapping
    column: Column | None
    wrong_type: str = ""

    @property
    def markers(self) -> str:
        return show_markers(self.mapping.null_markers)

    @property
    def temporal(self) -> bool:
        return self.column is not None and self.column.column_type.is_temporal

    @property
    def readings(self) -> list[Transform]:
        """The transforms that fit the column and interpret the value, without those that only clean it."""
        listed = transforms_for(self.column) if self.column else []
        chosen = [each for name in self.mapping.transforms if (each := TRANSFORMS.get(name)) and each.currency]
        return [each for each in (*listed, *chosen) if not each.cleans]

    @property
    def reading(self) -> Transform | None:
        """The chosen one of `readings`."""
        return next((each for each in self.readings if each.name in self.mapping.transforms), None)

    @property
    def hint(self) -> str:
        """An explanation of the chosen reading."""
        reading = self.reading
        if reading is None:
            return ""
        return WORDS if reading.name == "yes-no" else reading.example


@dataclass(frozen=True)
class UnmappedColumn:
    """A column that no field is mapped to: its position in the table, and what fills it."""

    number: int
    column: Column
    filling: GeneratedColumn | None

    @property
    def otherwise(self) -> str:
        """What the column contains if nothing is chosen to fill it."""
        if self.column.required:
            return "must have a value"
        if self.column.generated:
            return "computed by the server"
        if self.column.auto_increment:
            return "numbered by the server"
        # MariaDB reports the default NULL as the text "NULL".
        return "NULL" if self.column.default in (None, "NULL") else f"default {self.column.default}"


@dataclass(frozen=True)
class Cell:
    """A value of the preview as it will be stored; `was` is the text of the file if that differs.

    `null`: becomes NULL. `bad`: the column does not accept the value. `unmapped`: the value is not loaded.
    """

    text: str
    null: bool = False
    unmapped: bool = False
    bad: bool = False
    was: str = ""

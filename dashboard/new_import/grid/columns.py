"""The headers of the grid: the mapping of each field of the file, and the content of each column without a field."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from dashboard.fields.null_markers import show_markers
from dashboard.fields.standings import STANDINGS
from dashboard.new_import.stated_fields import show_values
from importer.engine.mapping.columns import ColumnMapping, GeneratedColumn, described_values
from importer.engine.mapping.date_formats import format_words
from importer.engine.mapping.transforms import FALSE_WORDS, TRANSFORMS, TRUE_WORDS, Transform, transforms_for
from importer.engine.reading.reading import FieldReading
from importer.engine.schema.column_types import Family
from importer.engine.schema.table import Column
from importer.engine.source.decisions import Standing

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
    """One field of the file as the header of its column in the grid shows it: its name and its mapping.

    `key`: its column is in the primary key. `sure`: how sure its mapping is; None as long as nothing was decided.
    `nulls`: for a new table, what was chosen under NULL, and `nulls_offered` what may be. `wrong_type`: the text that
    was entered as the column's type, if that is invalid. `added`: the type of a column that the import adds.
    `as_number`: for a text of a new table, the transforms by which it becomes a number. `as_date`: whether a format
    makes that text a date. `sample`: the different texts of the sample, if they are few.
    """

    number: int
    name: str
    mapping: ColumnMapping
    column: Column | None
    key: bool = False
    sure: FieldReading | None = None
    nulls: str = ""
    nulls_offered: Mapping[str, str] = field(default_factory=dict)
    wrong_type: str = ""
    added: str = ""
    as_number: tuple[str, ...] = ()
    as_date: bool = False
    sample: tuple[str, ...] = ()

    @property
    def values(self) -> str:
        return show_values(self.mapping.values)

    @property
    def replaceable(self) -> list[tuple[str, str]]:
        """The texts that the page offers to replace, each with what is loaded for it."""
        listed = dict(self.mapping.values)
        return [(text, listed.get(text, text)) for text in dict.fromkeys((*self.sample, *listed))]

    @property
    def looks_up(self) -> bool:
        """Whether the column may get the number of another table's row."""
        return self.column is not None and self.column.column_type.family is Family.INTEGER and not self.as_number

    @property
    def lookup(self) -> str:
        return self.mapping.lookup.text if self.mapping.lookup else ""

    @property
    def markers(self) -> str:
        return show_markers(self.mapping.null_markers)

    @property
    def temporal(self) -> bool:
        return self.as_date or (self.column is not None and self.column.column_type.is_temporal)

    @property
    def readings(self) -> list[Transform]:
        """The transforms that fit the column and interpret the value, without those that only clean it."""
        listed = transforms_for(self.column) if self.column else []
        chosen = [each for name in self.mapping.transforms if (each := TRANSFORMS.get(name)) and each.currency]
        offered = (*(TRANSFORMS[name] for name in self.as_number), *listed, *chosen)
        return [each for each in dict.fromkeys(offered) if not each.cleans]

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

    @property
    def format(self) -> str:
        """The format of the values in a few words."""
        replaced = described_values(self.mapping.values)
        read = format_words(self.mapping.datetime_format) or (self.reading.label if self.reading else "")
        looked_up = self.mapping.lookup.words if self.mapping.lookup else ""
        return ", ".join(filter(None, (read, replaced, looked_up))) or "no conversion"

    @property
    def asked(self) -> bool:
        """Whether a question above the grid is about the field."""
        return self.sure is not None and self.sure.standing is Standing.GUESSED

    @property
    def standing(self) -> str:
        """How sure the column is; "" for a field that goes into none because none was found."""
        return STANDINGS[self.sure.standing][0] if self.sure and (self.column or not self.asked) else ""

    @property
    def colour(self) -> str:
        """The colour of the standing's badge."""
        return STANDINGS[self.sure.standing][1] if self.sure else ""


@dataclass(frozen=True)
class UnfilledColumn:
    """A column that no field goes into: its position in the table, and what fills it, or whether it stays as it is."""

    number: int
    column: Column
    filling: GeneratedColumn | None
    kept: bool = False

    @property
    def missing(self) -> bool:
        """Whether the column must have a value, and has none."""
        return self.column.required and not (self.filling or self.kept)

    @property
    def otherwise(self) -> str:
        """What the column contains if nothing is chosen to fill it."""
        if self.kept:
            return "stays as it is"
        if self.column.required:
            return "must have a value"
        if self.column.generated:
            return "computed by the server"
        if self.column.auto_increment:
            return "numbered by the server"
        # MariaDB reports the default NULL as the text "NULL".
        return "NULL" if self.column.default in (None, "NULL") else f"default {self.column.default}"

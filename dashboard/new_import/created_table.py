"""The table that an import of the page makes: its columns as the headers of the grid name them."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from django.contrib.humanize.templatetags.humanize import ordinal

from dashboard.new_import.form import NewImportForm
from importer.engine.mapping.columns import ColumnMapping, with_listed
from importer.engine.mapping.new_table.suggestion import formats_of, suggest_table
from importer.engine.mapping.suggest import map_to_new
from importer.engine.mapping.transforms import TRANSFORMS
from importer.engine.schema.new_table import NewTable, change_table, name_columns_as
from importer.engine.schema.table import Table
from importer.engine.source.profile.profile import Profile
from importer.preparation.request import NewTableRequest

# What the page calls each choice under NULL of a new column that is not in a key of several columns.
NULLS = {"null": "NULL", "not_null": "NOT NULL", "key": "primary key"}


@dataclass(frozen=True)
class CreatedTable:
    """A new table for the file: as suggested by the sample, and the choices for it.

    `basis`: NewImportForm.basis() of the suggestion. `chosen`: the mapping that was chosen for it, None without one.
    """

    profile: Profile
    suggested: NewTable
    basis: str
    chosen: tuple[ColumnMapping, ...] | None
    request: NewTableRequest
    retyped: Collection[int]
    null_markers: tuple[str, ...] | None

    @property
    def names(self) -> tuple[str, ...]:
        """The name of the column of each field; "" for a field that is left out."""
        return names_of(self.chosen, self.suggested)

    def entered(self) -> NewTable:
        """The suggested table with the names as they were entered, unchecked."""
        pairs = zip(self.suggested.columns, self.names, strict=True)
        return replace(self.suggested, columns=tuple(replace(each, name=name) for each, name in pairs if name))

    @property
    def entered_mapping(self) -> tuple[ColumnMapping, ...] | None:
        """The chosen mapping; None without one, or if it names no column."""
        return self.chosen if self.chosen and any(each.column for each in self.chosen) else None

    def nulls(self, name: str) -> str:
        """What was chosen under NULL for the column of this name: a key of nulls_offered()."""
        key = self.request.primary_key
        if name in key:
            return f"key_{key.index(name) + 1}" if len(key) > 1 else "key"
        return "not_null" if name in self.request.not_null else "null"

    def nulls_offered(self, name: str) -> dict[str, str]:
        """What may be chosen under NULL for the column of this name, and what the page calls it.

        A column of a key of several may take any place in it. Another column becomes its last one.
        """
        key = self.request.primary_key
        if not key or key == (name,):
            return NULLS
        several = len(key) > 1 and name in key
        places = range(1, len(key) + 1) if several else [len(key) + 1]
        in_key = {f"key_{place}" if several else "key": f"{ordinal(place)} of the key" for place in places}
        return {"null": NULLS["null"], "not_null": NULLS["not_null"], **in_key}

    def changed(self) -> NewTable:
        """The table as chosen. Raises Problem for names, types and keys that no server takes."""
        wanted = self.request
        table = name_columns_as(self.suggested, self.names)
        return change_table(table, wanted.types, wanted.primary_key, wanted.widen, wanted.not_null)

    def mapping(self, table: Table) -> tuple[ColumnMapping, ...]:
        """The mapping to the table `changed()`: as chosen, and as suggested where the chosen format does not suit."""
        first = self._first_mapping()
        if not self.entered_mapping:
            return first
        pairs = enumerate(zip(self.entered_mapping, first, strict=True))
        return tuple(_suitable(each, other, table, retyped=number in self.retyped) for number, (each, other) in pairs)

    def _first_mapping(self) -> tuple[ColumnMapping, ...]:
        """The suggested mapping for the chosen types, with the chosen names."""
        own, wanted = [column.name for column in self.suggested.columns], self.request
        names = dict(zip(own, self.names, strict=True))
        types = {name: wanted.types[new] for name, new in names.items() if new in wanted.types}
        not_null = [name for name, new in names.items() if new in wanted.not_null or new in wanted.primary_key]
        whole = change_table(self.suggested, types, (), wanted.widen, not_null)
        listed = with_listed(self.profile, dict(enumerate(self.entered_mapping or ())))
        mapping = map_to_new(listed, whole.as_table(), self.null_markers)
        return tuple(
            replace(each, column=name) if name else ColumnMapping("")
            for each, name in zip(mapping, self.names, strict=True)
        )


def create_table(
    choices: NewImportForm, schema: str, name: str, profile: Profile, earlier: tuple[ColumnMapping, ...] | None
) -> CreatedTable:
    """The table that mode create makes by these choices. `earlier`: the mapping of the import that is run again."""
    suggested = suggest_table(schema, name, profile, choices.null_markers)
    basis = choices.basis(profile.dialect, profile.header, suggested.as_table())
    chosen = choices.mapping(len(profile.header), basis) or earlier
    if chosen:
        suggested = suggest_table(schema, name, profile, choices.null_markers, formats_of(chosen))
    request = choices.new_table_request(names_of(chosen, suggested), basis)
    return CreatedTable(profile, suggested, basis, chosen, request, choices.retyped, choices.null_markers)


def names_of(chosen: Sequence[ColumnMapping] | None, suggested: NewTable) -> tuple[str, ...]:
    """The names of the columns that the mapping has for the fields; those suggested if it has none."""
    names = tuple(each.column for each in chosen or ())
    return names if any(names) else tuple(column.name for column in suggested.columns)


def _suitable(chosen: ColumnMapping, suggested: ColumnMapping, table: Table, *, retyped: bool) -> ColumnMapping:
    """The chosen mapping of a field; the suggested one if its type was changed, or the format does not suit it."""
    type_ = table.column(chosen.column).column_type if chosen.column else None
    suits = type_ is None or all(TRANSFORMS[name].accepted(type_) for name in chosen.transforms)
    suits = suits and (type_ is None or type_.is_temporal or not chosen.datetime_format) and not retyped
    markers = chosen.null_markers or suggested.null_markers
    return chosen if suits else replace(suggested, null_markers=markers, values=chosen.values)

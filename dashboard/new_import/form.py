"""The form of a new import: its values, and the dialect, mapping and options that they make."""

import json
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import cached_property
from hashlib import sha256
from math import inf
from typing import Any

from dashboard.fields.format_fields import FORMAT_FIELDS
from dashboard.fields.null_markers import parse_markers
from dashboard.fields.option_form import OptionsForm
from dashboard.formatting import entered_number
from dashboard.new_import.stated_fields import ANSWERED, answered_fields, read_values, stated_positions
from importer import lab as labs
from importer.access.acting import acting_user
from importer.access.policy import seen
from importer.engine.errors import Problem
from importer.engine.mapping.columns import ColumnMapping, GeneratedColumn, Lookup, field_name
from importer.engine.mapping.suggest import MATCHES
from importer.engine.plan.option_kinds import NONE
from importer.engine.plan.option_specs import SPEED
from importer.engine.plan.options import Options
from importer.engine.reading.stated import Stated
from importer.engine.schema.new_table import NewColumn
from importer.engine.schema.table import Table
from importer.engine.source.dialect import RFC4180, Dialect
from importer.engine.target.write_modes import CHANGING, MODES
from importer.jobs.actions.again import is_readable
from importer.models import ImportJob, Lab, MappingPreset, SourceFile, Target
from importer.preparation.like import new_table_again, options_again
from importer.preparation.request import NewTableRequest

# The modes of a preset or a lab that a new import begins with.
REPEATED_MODES = (*CHANGING, "atomic", "replace")


@dataclass(frozen=True)
class NewImportForm:
    """The values of one file's form; a name that the form did not send means "auto-detected" or "as planned"."""

    values: Mapping[str, str]

    @cached_property
    def answered(self) -> frozenset[str]:
        """The names of the form's fields that the user has set, in contrast to detected values."""
        return answered_fields(self.values)

    @cached_property
    def known_format(self) -> dict[str, Any]:
        """The fields of the file's dialect that the user has set. Raises SourceProblem if they conflict."""
        known = {}
        for name in self.answered & FORMAT_FIELDS.keys() & self.values.keys():
            with suppress(KeyError, ValueError):  # A value that no select offers is as if it had not been sent.
                known[name] = FORMAT_FIELDS[name].read(self.values[name])
        RFC4180.stating(**known)
        return known

    def without_columns(self) -> "NewImportForm":
        """The form without answers about columns, which were given for another table or format."""
        return NewImportForm({**self.values, ANSWERED: json.dumps(sorted(self.answered & {*FORMAT_FIELDS, "match"}))})

    @property
    def accepted(self) -> frozenset[str]:
        """The identities of the questions (Question.identity) whose first answers were accepted when they were seen."""
        return frozenset(self.values.get("accepted", "").split())

    def stated(self, header: Sequence[str], *, whole_format: bool, whole_mapping: bool) -> Stated:
        """The decisions that the user has made: by fields of the form, or all by a preset or an earlier import."""
        values = stated_positions(self.answered, "read", "trim", "format", "null")
        keys = {f"format:{field_name(header, number)}" for number in values if number < len(header)}
        for kind in ("values", "lookup"):
            chosen = stated_positions(self.answered, kind)
            keys |= {f"{kind}:{field_name(header, number)}" for number in chosen if number < len(header)}
        keys |= {"match"} & self.answered
        return Stated(whole_format, whole_mapping, frozenset(keys), stated_positions(self.answered, "column"))

    @cached_property
    def target(self) -> Target | None:
        """The chosen target; without a choice, that of `before`, else of the newest import, else the newest target."""
        if "target" in self.values:
            chosen = entered_number(self.values["target"])
            return seen(Target.objects.filter(pk=chosen)).first() if chosen else None
        if self.before:
            return self.before.target
        return seen(Target.objects.registered().order_by("-jobs__pk", "-pk")).first()

    @property
    def table(self) -> str:
        if "table" not in self.values and self.before:
            return self.before.table
        return self.values.get("table", "").strip()

    @cached_property
    def null_markers(self) -> tuple[str, ...] | None:
        """NULL markers for all columns; None: as suggested."""
        return parse_markers(self.values["null_markers"]) if self.values.get("null_markers") else None

    @cached_property
    def again(self) -> ImportJob | None:
        """The import whose reject file this is; its settings are the defaults."""
        return self._import("again")

    @cached_property
    def edited(self) -> ImportJob | None:
        """The import that is run again with changes; its settings are the defaults."""
        return self._import("edit")

    @property
    def edited_is_readable(self) -> bool:
        """Whether the acting person can still import the file of `edited`."""
        user = acting_user()
        return bool(self.edited and user and is_readable(self.edited, user))

    @property
    def rejects_of(self) -> ImportJob | None:
        """The import whose rejected rows this file has."""
        return self.again or (self.edited.rejects_of if self.edited else None)

    def _import(self, name: str) -> ImportJob | None:
        text = self.values.get(name, "")
        if not (text.isascii() and text.isdigit() and len(text) < 19):
            return None
        return seen(ImportJob.objects.select_related("target", "source", "rejects_of")).filter(pk=int(text)).first()

    @cached_property
    def preset(self) -> MappingPreset | None:
        """The chosen preset, whose settings are the defaults."""
        text = self.values.get("preset", "")
        if not (text.isascii() and text.isdigit() and len(text) < 19):
            return None
        return seen(MappingPreset.objects.select_related("target")).filter(pk=int(text)).first()

    @cached_property
    def lab(self) -> Lab | None:
        """The lab whose recommendation gives the defaults."""
        text = self.values.get("lab", "")
        if not (text.isascii() and text.isdigit() and len(text) < 19):
            return None
        return seen(Lab.objects.select_related("target", "of_job")).filter(pk=int(text)).first()

    @cached_property
    def lab_advice(self) -> dict[str, Any] | None:
        """What the lab recommends; None before it has measured anything."""
        advice: dict[str, Any] | None = labs.outcome(self.lab)["recommendation"] if self.lab else None
        return advice

    @property
    def lab_has_verdict(self) -> bool:
        """Whether the lab had enough rounds to tell settings apart."""
        advice = self.lab_advice
        return advice is not None and advice["confidence"] != "none"

    @property
    def lab_sets_any(self) -> bool:
        """Whether the lab recommends any setting of speed that the planner would not choose by itself."""
        found, usual = self.options_before or Options(), Options()
        return any(getattr(found, each.name) != getattr(usual, each.name) for each in SPEED)

    @property
    def before(self) -> ImportJob | MappingPreset | Lab | None:
        """Where the defaults come from: an earlier import, a lab, or a preset."""
        return self.again or self.edited or self.lab or self.preset

    def is_for_other_file(self, source: SourceFile) -> bool:
        """Whether the defaults come from another file, whose dialect this one need not have.

        Rejected rows are in the dialect of their import.
        """
        if self.before is self.preset:
            return True
        earlier = self.edited or self.lab
        return not self.again and earlier is not None and earlier.source_id != source.pk

    @cached_property
    def options_before(self) -> Options | None:
        """The options that the defaults come from; of a lab, the recommended ones."""
        if isinstance(self.before, Lab):
            with suppress(Problem):  # Raised by a lab without measurements.
                return labs.options_to_apply(self.before)
        if self.edited and self.before is self.edited:
            return options_again(self.edited)
        return self.before.options if self.before else None

    def with_chosen_preset(self) -> "NewImportForm":
        """The form with the settings of a preset if the user has just chosen another one; else the form itself."""
        chosen = self.values.get("preset", "")
        if chosen == self.values.get("preset_shown", chosen):
            return self
        fresh = NewImportForm({"preset": chosen})
        if fresh.preset:
            return fresh.with_preset(fresh.preset)
        return NewImportForm(
            {"preset": "", **{name: self.values[name] for name in ("target", "table") if name in self.values}}
        )

    def with_preset(self, preset: MappingPreset) -> "NewImportForm":
        """The form with a preset as its defaults."""
        return NewImportForm({**self.values, "preset": str(preset.pk)})

    @property
    def mode(self) -> str:
        """The write mode. The default repeats the earlier one, except modes that would remove or recreate the rows.

        Rows of a reject file are added to those that their import has loaded.
        """
        before = self.options_before.mode if self.options_before else "append"
        repeatable: Collection[str] = CHANGING if self.again else MODES if self.edited else REPEATED_MODES
        return self.values.get("mode") or (before if before in repeatable else "append")

    @cached_property
    def option_form(self) -> OptionsForm:
        """The form of the options. A file of rejected rows has no limit by default: many may be bad again."""
        values = {"max_rejects": NONE, **self.values} if self.again else self.values
        return OptionsForm(values, self.options_before or Options(), self.mode)

    @property
    def origin_of_options(self) -> str:
        """Where the options that are not at their defaults come from, in words."""
        before = self.before
        if before is None:
            return "as you set them for this file"
        found = {Lab: f"as lab {before.pk} recommends", MappingPreset: f"as in the preset {before}"}
        words = found.get(type(before), f"as in import {before.pk}")
        return f"{words}, with your changes" if self.option_form.changed else words

    @property
    def for_another_file(self) -> dict[str, str]:
        """The values to open the page of another file with: its defaults, target, table and options."""
        kept = ("again", "edit", "lab", "preset", "target", "table")
        return {name: self.values[name] for name in kept if name in self.values} | self.option_form.changed

    @property
    def options(self) -> Options:
        """The options of the import. Raises Problem, with the option, for one that is invalid."""
        return self.option_form.options

    @property
    def retyped(self) -> frozenset[int]:
        """The positions (from 0) of new columns whose type was chosen, and the format of their values was not."""
        formats = stated_positions(self.answered, "read", "trim", "format")
        return stated_positions(self.answered, "type") - formats

    @cached_property
    def _new_table_before(self) -> NewTableRequest:
        return (new_table_again(self.edited) if self.edited else None) or NewTableRequest()

    def new_table_request(self, names: Sequence[str], basis: str) -> NewTableRequest:
        """The choices for a new table with these columns; those of columns only if they were made for this `basis`.

        `names`: the name of the column of each field, "" for a field that is left out.
        """
        before = self._new_table_before
        types, keys, not_null = dict(before.types), before.primary_key, before.not_null
        if self.values.get("basis") == basis:
            answered = stated_positions(self.answered, "type")
            for number in answered & {number for number, name in enumerate(names) if name}:
                if text := self.values.get(f"type_{number}", "").strip():
                    types[names[number]] = text
            keys, not_null = self._primary_key(names), self._not_null(names)
        narrow = "basis" in self.values and "widen" not in self.values and self.values.get("mode_shown") == "create"
        return NewTableRequest(
            {name: type_ for name, type_ in types.items() if name in names}, keys, not narrow, not_null
        )

    def _not_null(self, names: Sequence[str]) -> tuple[str, ...]:
        """The columns of a new table for which NOT NULL was chosen."""
        return tuple(
            name for number, name in enumerate(names) if name and self.values.get(f"nulls_{number}") == "not_null"
        )

    def _primary_key(self, names: Sequence[str]) -> tuple[str, ...]:
        """The columns of a new table that were chosen for its primary key, in the key's order."""
        places = {name: self._place_in_key(number) for number, name in enumerate(names) if name}
        chosen = {name: place for name, place in places.items() if place}
        return tuple(sorted(chosen, key=lambda name: chosen[name]))

    def _place_in_key(self, number: int) -> tuple[float, int] | None:
        """What orders the column of this field in the primary key; None if it is not in it.

        "key_2" is the second place, "key" the last one unless the page showed it already. A column that has just been
        moved takes its new place from the one that had it: it comes before it if it moved up, after it otherwise.
        """
        chosen = self.values.get(f"nulls_{number}", "")
        if not chosen.startswith("key"):
            return None
        shown = self.values.get(f"was_nulls_{number}", chosen)
        place, before = (float(entered_number(each.removeprefix("key_")) or inf) for each in (chosen, shown))
        if chosen == shown:
            return (1 if place == inf else place), 0
        return place, -1 if place < before else 1

    def mapping(self, fields: int, basis: str) -> tuple[ColumnMapping, ...] | None:
        """The chosen mapping of each of `fields` fields; None unless it was chosen for this `basis`."""
        if self.values.get("basis") != basis:
            return None
        return tuple(self._column(number) for number in range(fields))

    def _column(self, number: int) -> ColumnMapping:
        lookup = self.values.get(f"lookup_{number}", "")
        chosen = (self.values.get(f"{name}_{number}", "") for name in ("trim", "read"))
        return ColumnMapping(
            column=self.values.get(f"column_{number}", ""),
            null_markers=parse_markers(self.values.get(f"null_{number}", "")),
            datetime_format=self.values.get(f"format_{number}", "").strip(),
            transforms=tuple(name for name in chosen if name),
            values=read_values(self.values.get(f"values_{number}", "")),
            lookup=Lookup.of(lookup) if lookup.strip() else None,
        )

    def added_columns(self, table: Table, basis: str) -> tuple[NewColumn, ...]:
        """The columns that the user adds to the table for fields, with their types as entered, in the file's order.

        Empty unless they were chosen for this `basis`.
        """
        if self.values.get("basis") != basis:
            return ()
        known = {name.lower() for name in table.column_names}
        numbers = (entered_number(name.removeprefix("add_")) for name in self.values if name.startswith("add_"))
        added = {}
        for number in sorted(each for each in numbers if each is not None):
            column, type_ = self.values.get(f"column_{number}", ""), self.values.get(f"add_{number}", "").strip()
            if column and type_ and column.lower() not in known:
                added[column.lower()] = NewColumn(column, type_)
        return tuple(added.values())

    @property
    def moved(self) -> dict[int, str]:
        """Fields whose column the user has just changed: new column by field number."""
        moved = {}
        for name, column in self.values.items():
            text = name.removeprefix("column_")
            number = entered_number(text) if text != name else None
            if number is not None and column != self.values.get(f"was_{text}", column):
                moved[number] = column
        return moved

    def fillings(self, table: Table, basis: str) -> tuple[GeneratedColumn, ...] | None:
        """The chosen contents of columns without a field; None unless they were chosen for this `basis`."""
        if self.values.get("basis") != basis:
            return None
        mapped = {value.lower() for name, value in self.values.items() if name.startswith("column_")}
        generated = []
        for number, column in enumerate(table.columns):
            source = self.values.get(f"fill_{number}", "")
            text = self.values.get(f"filltext_{number}", "") if source == "text" else ""
            if source and column.name.lower() not in mapped:
                generated.append(GeneratedColumn(column.name, source, text))
        return tuple(generated)

    @property
    def match(self) -> str:
        """How fields are matched with columns: one of mapping.suggest.MATCHES, or "" for the best fit."""
        chosen = self.values.get("match", "")
        return chosen if chosen in MATCHES else ""

    def basis(self, dialect: Dialect, header: tuple[str, ...], table: Table) -> str:
        """A digest of everything a mapping depends on: with another file format or table, the mapping is void."""
        target = self.target.pk if self.target else None
        facts = (
            asdict(dialect),
            header,
            target,
            table.schema,
            table.name,
            table.column_names,
            self.null_markers,
            self.match,
        )
        return sha256(repr(facts).encode()).hexdigest()[:16]

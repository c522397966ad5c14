"""The form of a new import: its values, and the dialect, mapping and options that they make."""

import csv
import io
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import cached_property
from hashlib import sha256
from typing import Any

from dashboard.new_import.row_policy import ACCOUNTING
from dashboard.new_import.speed_form import SpeedChoices, whole_number
from importer import lab as labs
from importer.engine.errors import Problem
from importer.engine.mapping.columns import ColumnMapping, GeneratedColumn
from importer.engine.mapping.suggest import MATCHES
from importer.engine.plan.option_specs import named
from importer.engine.plan.options import Options
from importer.engine.schema.new_table import NewTable
from importer.engine.schema.table import Table
from importer.engine.source import encodings
from importer.engine.source.dialect import LINE_ENDS, Dialect, unescape_mark
from importer.models import ImportJob, Lab, MappingPreset, Target
from importer.preparation.prepare import NewTableRequest

DELIMITERS = {",": "comma", r"\t": "tab", ";": "semicolon", "|": "vertical bar"}
QUOTES = {'"': 'double "', "'": "single '", "": "none"}
ESCAPES = {"": "none", "\\": "backslash"}
LINE_END_WORDS = {"lf": "LF (Unix)", "crlf": "CR LF (Windows)", "cr": "CR (old Macs)", "any": "any of them"}
HEADERS = {"yes": True, "no": False}
HEADER_WORDS = {"yes": "names", "no": "data"}
TRAILING_WORDS = {"no": "starts a field", "yes": "is left out"}
BLANK_WORDS = {"skip": "are left out", "keep": "are rows"}
EMPTY_WORDS = {"no": "empty text", "yes": "NULL"}
# The default limit of rows to leave out, in percent: more rejects mostly mean a wrong mapping.
USUAL_REJECT_PERCENT = "10"


@dataclass(frozen=True)
class NewImportForm:
    """The values of one file's form; a name that the form did not send means "as sniffed" or "as planned"."""

    values: Mapping[str, str]

    @cached_property
    def dialect(self) -> Dialect | None:
        """The chosen dialect; None before the sniffed one was shown. Raises SourceProblem if characters conflict."""
        if "delimiter" not in self.values:
            return None
        return Dialect(
            delimiter=unescape_mark(self.values["delimiter"]),
            quote=self.values.get("quote", ""),
            escape=self.values.get("escape", ""),
            line_end=LINE_ENDS.get(self.values.get("line_end", ""), "\n"),
            encoding=self.values.get("encoding", encodings.UTF8),
            header=HEADERS.get(self.values.get("header", ""), True),
            skip_rows=int(skip_rows) if (skip_rows := self.values.get("skip_rows", "")).isdecimal() else 0,
            trailing_delimiter=self.values.get("trailing_delimiter") == "yes",
            blank_lines=self.values.get("blank_lines", "skip"),
            unquoted_empty_is_null=self.values.get("unquoted_empty_is_null") == "yes",
        )

    @cached_property
    def target(self) -> Target | None:
        """The chosen target; without a choice, that of `before`, else of the newest import, else the newest target."""
        chosen = self.values.get("target", "")
        if "target" in self.values:
            return Target.objects.filter(pk=int(chosen)).first() if chosen.isdecimal() else None
        if self.before:
            return self.before.target
        return Target.objects.order_by("-jobs__pk", "-pk").first()

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
        text = self.values.get("again", "")
        if not (text.isascii() and text.isdigit() and len(text) < 19):
            return None
        return ImportJob.objects.select_related("target", "source").filter(pk=int(text)).first()

    @cached_property
    def preset(self) -> MappingPreset | None:
        """The chosen preset, whose settings are the defaults."""
        text = self.values.get("preset", "")
        if not (text.isascii() and text.isdigit() and len(text) < 19):
            return None
        return MappingPreset.objects.select_related("target").filter(pk=int(text)).first()

    @cached_property
    def lab(self) -> Lab | None:
        """The lab whose recommendation gives the defaults."""
        text = self.values.get("lab", "")
        if not (text.isascii() and text.isdigit() and len(text) < 19):
            return None
        return Lab.objects.select_related("target", "of_job").filter(pk=int(text)).first()

    @property
    def before(self) -> ImportJob | MappingPreset | Lab | None:
        """Where the defaults come from: an earlier import, a lab, or a preset."""
        return self.again or self.lab or self.preset

    @cached_property
    def options_before(self) -> Options | None:
        """The options that the defaults come from; of a lab, the recommended ones."""
        if isinstance(self.before, Lab):
            with suppress(Problem):  # Raised by a lab without measurements.
                return labs.options_to_apply(self.before)
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
        """The form with a preset as its defaults; its reject limits become values, to be seen and changed."""
        options = preset.options
        limits = {"max_rejects": options.max_rejects, "max_reject_percent": options.max_reject_percent}
        shown = {name: str(number) for name, number in limits.items() if number is not None}
        return NewImportForm({**self.values, **shown, "preset": str(preset.pk)})

    @cached_property
    def accounting(self) -> dict[str, str]:
        """The policy for rows that cannot be loaded unchanged: an answer for each question of ACCOUNTING."""
        default = self.options_before or Options()
        return {name: self.values.get(name) or getattr(default, name) for name in ACCOUNTING}

    @property
    def mode(self) -> str:
        """The write mode. The default repeats the earlier one, except modes that would remove or recreate the rows.

        Rows of a reject file are added to those that their import has loaded.
        """
        before = self.options_before.mode if self.options_before else "append"
        repeatable = ("upsert",) if self.again else ("upsert", "atomic", "replace")
        return self.values.get("mode") or (before if before in repeatable else "append")

    @cached_property
    def speed(self) -> SpeedChoices:
        """The speed settings."""
        return SpeedChoices(self.values, self.mode, self.options_before or Options())

    @property
    def limits(self) -> dict[str, str]:
        """The limits of rows to leave out, as text. No default limit for a reject file: many rows may be bad again."""
        before = self.options_before
        percent = USUAL_REJECT_PERCENT
        if self.again or (before and before.on_error == "reject"):
            percent = ""
        limit = ""
        if self.lab and before and before.on_error == "reject":
            limit = "" if before.max_rejects is None else str(before.max_rejects)
            percent = "" if before.max_reject_percent is None else f"{before.max_reject_percent:g}"
        return {
            "max_rejects": self.values.get("max_rejects", limit).strip(),
            "max_reject_percent": self.values.get("max_reject_percent", percent).strip(),
        }

    @cached_property
    def options(self) -> Options:
        """The options of the import. Raises Problem if a number is invalid or out of range."""
        values: dict[str, Any] = dict(self.accounting)
        if values["on_error"] == "reject":
            # An import that stops at the first bad row has no limits.
            text = self.limits["max_rejects"]
            values["max_rejects"] = whole_number(
                text, "Most rows to leave out", *named("max_rejects").limits, "max_rejects"
            )
            values["max_reject_percent"] = self._reject_percent()
        return Options(mode=self.mode, **values, **self.speed.options)

    def _reject_percent(self) -> float | None:
        text = self.limits["max_reject_percent"].removesuffix("%").replace(",", ".").strip()
        if not text:
            return None
        if re.fullmatch(r"[0-9]{1,3}(\.[0-9]{1,6})?", text) and float(text) <= 100:
            return float(text)
        raise Problem(
            f"The most rows to leave out, in percent, is {text!r}.",
            advice="Give a number from 0 to 100, or leave it empty.",
        )

    def new_table_request(self, table: NewTable, basis: str) -> NewTableRequest:
        """The choices for a new table; its types only if they were chosen for this `basis`."""
        types = {}
        if self.values.get("basis") == basis:
            chosen = ((column, self.values.get(f"type_{at}", "").strip()) for at, column in enumerate(table.columns))
            types = {column.name: text for column, text in chosen if text and text != column.type}
        key = next(csv.reader([self.values.get("primary_key", "")], skipinitialspace=True), [])
        narrow = "basis" in self.values and "widen" not in self.values and self.values.get("mode_shown") == "create"
        return NewTableRequest(types, tuple(name.strip() for name in key if name.strip()), widen=not narrow)

    def mapping(self, fields: int, basis: str) -> tuple[ColumnMapping, ...] | None:
        """The chosen mapping of each of `fields` fields; None unless it was chosen for this `basis`."""
        if self.values.get("basis") != basis:
            return None
        return tuple(self._column(number) for number in range(fields))

    def _column(self, number: int) -> ColumnMapping:
        chosen = (self.values.get(f"{name}_{number}", "") for name in ("trim", "read"))
        return ColumnMapping(
            column=self.values.get(f"column_{number}", ""),
            null_markers=parse_markers(self.values.get(f"null_{number}", "")),
            datetime_format=self.values.get(f"format_{number}", "").strip(),
            transforms=tuple(name for name in chosen if name),
        )

    @property
    def moved(self) -> dict[int, str]:
        """Fields whose column the user has just changed: new column by field number."""
        moved = {}
        for name, column in self.values.items():
            number = name.removeprefix("column_")
            if number != name and number.isdecimal() and column != self.values.get(f"was_{number}", column):
                moved[int(number)] = column
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


def parse_markers(text: str) -> tuple[str, ...]:
    """Read NULL markers, written as a line of CSV so that a marker may contain a comma or be empty.

    `NA, ""` -> ("NA", ""). Raises Problem if the text is not valid CSV.
    """
    try:
        return tuple(dict.fromkeys(next(csv.reader([text], skipinitialspace=True), [])))
    except csv.Error as error:
        raise Problem(f"{text!r} is no list of NULL markers.", advice='Write it as in a CSV file: NA, ""') from error


def show_markers(markers: tuple[str, ...]) -> str:
    """The inverse of parse_markers."""
    return ", ".join(_quoted(markers))


def _quoted(markers: tuple[str, ...]) -> Iterator[str]:
    for marker in markers:
        line = io.StringIO()
        plain = marker and marker == marker.strip()
        csv.writer(line, quoting=csv.QUOTE_MINIMAL if plain else csv.QUOTE_ALL, lineterminator="").writerow([marker])
        yield line.getvalue()

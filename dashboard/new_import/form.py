"""What somebody chose on the new import page: the form's values, and what they mean to the engine."""

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
# The share of rows to leave out that is chosen before anybody says anything: more of them is a wrong mapping, mostly.
USUAL_REJECT_PERCENT = "10"


@dataclass(frozen=True)
class NewImportForm:
    """The values of one file's form; a name that the form did not send means "as sniffed" or "as planned"."""

    values: Mapping[str, str]

    @cached_property
    def dialect(self) -> Dialect | None:
        """None before anybody has seen what was sniffed. Raises SourceProblem if the characters do not go together."""
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
        """The chosen target; the only one there is, or the one of the newest import, if none was chosen."""
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
        """Markers for all columns; None leaves them to the suggestion."""
        return parse_markers(self.values["null_markers"]) if self.values.get("null_markers") else None

    @cached_property
    def again(self) -> ImportJob | None:
        """The import whose rejected rows these are; its settings are the first choice."""
        text = self.values.get("again", "")
        if not (text.isascii() and text.isdigit() and len(text) < 19):
            return None
        return ImportJob.objects.select_related("target", "source").filter(pk=int(text)).first()

    @cached_property
    def preset(self) -> MappingPreset | None:
        """The saved mapping to begin with."""
        text = self.values.get("preset", "")
        if not (text.isascii() and text.isdigit() and len(text) < 19):
            return None
        return MappingPreset.objects.select_related("target").filter(pk=int(text)).first()

    @cached_property
    def lab(self) -> Lab | None:
        """The lab whose advice is to be followed."""
        text = self.values.get("lab", "")
        if not (text.isascii() and text.isdigit() and len(text) < 19):
            return None
        return Lab.objects.select_related("target", "of_job").filter(pk=int(text)).first()

    @property
    def before(self) -> ImportJob | MappingPreset | Lab | None:
        """What the first choice is taken from: an earlier import, a lab, or a preset."""
        return self.again or self.lab or self.preset

    @cached_property
    def options_before(self) -> Options | None:
        """The options that the first choice is taken from; of a lab, those that it recommends."""
        if isinstance(self.before, Lab):
            with suppress(Problem):  # It has measured nothing.
                return labs.options_to_apply(self.before)
        return self.before.options if self.before else None

    def settled(self) -> "NewImportForm":
        """The same choices, or those of the preset if another one was chosen than the page was shown with."""
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
        """Begin with the preset; its limits go into the form, where they can be seen and changed."""
        options = preset.options
        limits = {"max_rejects": options.max_rejects, "max_reject_percent": options.max_reject_percent}
        shown = {name: str(number) for name, number in limits.items() if number is not None}
        return NewImportForm({**self.values, **shown, "preset": str(preset.pk)})

    @cached_property
    def accounting(self) -> dict[str, str]:
        """What becomes of rows that do not go in as they are: an answer for each question of ACCOUNTING."""
        default = self.options_before or Options()
        return {name: self.values.get(name) or getattr(default, name) for name in ACCOUNTING}

    @property
    def mode(self) -> str:
        """What becomes of the table's rows. Rejected rows of an import go to those that it has brought."""
        before = self.options_before.mode if self.options_before else "append"
        repeatable = ("upsert",) if self.again else ("upsert", "atomic", "replace")
        return self.values.get("mode") or (before if before in repeatable else "append")

    @cached_property
    def speed(self) -> SpeedChoices:
        """How fast it is to load."""
        return SpeedChoices(self.values, self.mode, self.options_before or Options())

    @property
    def limits(self) -> dict[str, str]:
        """How many rows may be left out, as written. Of rows that were rejected before, many may be bad again."""
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
        """Raises Problem if a number is none or out of range."""
        values: dict[str, Any] = dict(self.accounting)
        if values["on_error"] == "reject":
            # Limits mean nothing to an import that stops.
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

    def asked_table(self, table: NewTable, basis: str) -> NewTableRequest:
        """What was chosen for a table that is to be made; its types only if they were chosen for this very `basis`."""
        types = {}
        if self.values.get("basis") == basis:
            chosen = ((column, self.values.get(f"type_{at}", "").strip()) for at, column in enumerate(table.columns))
            types = {column.name: text for column, text in chosen if text and text != column.type}
        key = next(csv.reader([self.values.get("primary_key", "")], skipinitialspace=True), [])
        narrow = "basis" in self.values and "widen" not in self.values and self.values.get("mode_shown") == "create"
        return NewTableRequest(types, tuple(name.strip() for name in key if name.strip()), widen=not narrow)

    def mapping(self, fields: int, basis: str) -> tuple[ColumnMapping, ...] | None:
        """What was chosen for each of so many fields; None unless it was chosen for this very `basis`."""
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
        """Fields that were given another column than the page was shown with: the number of each, and the column."""
        moved = {}
        for name, column in self.values.items():
            number = name.removeprefix("column_")
            if number != name and number.isdecimal() and column != self.values.get(f"was_{number}", column):
                moved[int(number)] = column
        return moved

    def fillings(self, table: Table, basis: str) -> tuple[GeneratedColumn, ...] | None:
        """What was chosen for columns without a field; None unless it was chosen for this very `basis`."""
        if self.values.get("basis") != basis:
            return None
        taken = {value.lower() for name, value in self.values.items() if name.startswith("column_")}
        generated = []
        for number, column in enumerate(table.columns):
            source = self.values.get(f"fill_{number}", "")
            text = self.values.get(f"filltext_{number}", "") if source == "text" else ""
            if source and column.name.lower() not in taken:
                generated.append(GeneratedColumn(column.name, source, text))
        return tuple(generated)

    @property
    def match(self) -> str:
        """How fields and columns are matched: one of suggestions.MATCHES, or "" for what fits the file."""
        chosen = self.values.get("match", "")
        return chosen if chosen in MATCHES else ""

    def basis(self, dialect: Dialect, header: tuple[str, ...], table: Table) -> str:
        """A short name for what a mapping is chosen for: another file format or table makes it meaningless."""
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
    """`NA, ""` -> ("NA", ""): written as in a line of CSV, so that a marker may hold a comma or be empty.

    Raises Problem if it is no line of CSV.
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

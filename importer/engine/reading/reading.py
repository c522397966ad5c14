"""The reading of a file as a value, and its JSON in the report and on the job (docs/contracts.md)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from importer.engine.source.decisions import Decision, SkippedLine, Standing
from importer.engine.source.dialect import Dialect, escape_mark, line_end_name
from importer.engine.source.formats.options import FORMAT, FORMAT_NAMES
from importer.engine.stored import from_json, to_json


@dataclass(frozen=True)
class FieldReading:
    """The column that one field of the file goes into, and how its text is read.

    `column` and `type` are "" for a field that goes nowhere. `format`: a date format or names of transforms, "" for the
    text as it is.
    """

    field: str
    column: str
    type: str
    format: str
    null_words: tuple[str, ...]
    standing: Standing
    evidence: str


@dataclass(frozen=True)
class Reading:
    """Everything that was decided about a file before its import.

    `unmatched_fields`: fields that go into no column. `unfilled_columns`: columns that get no value from the file or
    the import. `skipped_lines`: lines of the sample that are no records. `accepted`: the guesses were accepted, without
    an answer to each.
    """

    dialect: Dialect
    decisions: tuple[Decision, ...]
    columns: tuple[FieldReading, ...]
    unmatched_fields: tuple[str, ...] = ()
    unfilled_columns: tuple[str, ...] = ()
    skipped_lines: tuple[SkippedLine, ...] = ()
    notes: tuple[str, ...] = ()
    accepted: bool = False

    @property
    def guesses(self) -> tuple[Decision, ...]:
        """The decisions that the user is asked about."""
        return tuple(each for each in self.decisions if each.guessed)

    @property
    def lines(self) -> tuple[str, ...]:
        """One line in plain words for each decision that is not plain: the notes, and what was guessed."""
        guessed = (f"Guessed: {each.evidence}" for each in self.guesses)
        return (*guessed, *self.notes)


def reading_to_json(reading: Reading) -> dict[str, Any]:
    """The reading as the report has it. Line ends are names (lf, crlf, cr, any), control characters are escaped.

    A file of another format than CSV has no marks, unless the format has them: they are null.
    """
    dialect = reading.dialect
    own = dialect.own
    marks = {
        "delimiter": escape_mark(own.get("delimiter", dialect.delimiter)),
        "quote": own.get("quote", dialect.quote),
        "escape": own.get("escape", dialect.escape),
        "line_end": line_end_name(own.get("line_end", dialect.line_end)),
        "header": dialect.header,
    }
    return {
        "format": dialect.format,
        **{name: getattr(dialect, name) for name in FORMAT_NAMES if getattr(dialect, name) and name != FORMAT.name},
        "encoding": dialect.encoding,
        **(dict.fromkeys(marks) if dialect.is_converted and not own else marks),
        "columns": [to_json(each) for each in reading.columns],
        "unmatched_fields": list(reading.unmatched_fields),
        "unfilled_columns": list(reading.unfilled_columns),
        "skipped_lines": [to_json(each) for each in reading.skipped_lines],
        "guesses": [_decision_to_json(each) for each in reading.guesses],
        "guesses_accepted": reading.accepted,
        "decisions": [_decision_to_json(each) for each in reading.decisions if not each.guessed],
        "notes": list(reading.notes),
    }


def _decision_to_json(decision: Decision) -> dict[str, Any]:
    answers = [{"label": each.label, "flag": each.flag, "shows": list(each.shows)} for each in decision.answers]
    values = {key: value for key, value in to_json(decision).items() if key != "answers"}
    return {**values, "answers": answers} if answers else values


@dataclass(frozen=True)
class StoredReading:
    """The reading of a job as pages show it, from reading_to_json()."""

    columns: tuple[FieldReading, ...] = ()
    unmatched_fields: tuple[str, ...] = ()
    unfilled_columns: tuple[str, ...] = ()
    skipped_lines: tuple[SkippedLine, ...] = ()
    guesses: tuple[Mapping[str, Any], ...] = ()
    decisions: tuple[Mapping[str, Any], ...] = ()
    notes: tuple[str, ...] = ()
    guesses_accepted: bool = False


def stored_reading(values: Mapping[str, Any]) -> StoredReading:
    """Read the JSON that reading_to_json() made."""
    return from_json(StoredReading, values)

"""The questions of an import on its page: evidence, and a button for each answer with the values under it."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256

from dashboard.new_import.stated_fields import button_value
from importer.engine.mapping.columns import ColumnMapping, field_name
from importer.engine.mapping.new_table.suggestion import suggest_table
from importer.engine.mysql.connection import Connection
from importer.engine.schema.new_table import NewColumn
from importer.engine.schema.table import Table
from importer.engine.source.decisions import Answer, Decision
from importer.engine.source.profile.profile import Profile
from importer.engine.target.privileges import has_table_privilege

# Questions about fields without a column, from which on one button answers all of them.
FEW = 3


@dataclass(frozen=True)
class AnswerButton:
    """One answer: its words, the value that the form sends, and the first lines or values as this answer reads them."""

    label: str
    value: str
    shows: tuple[str, ...]


@dataclass(frozen=True)
class Question:
    """A guess of the reading as the page asks about it."""

    decision: Decision
    answers: tuple[AnswerButton, ...]

    @property
    def identity(self) -> str:
        """A digest of what is asked and of the first answer: an answer is accepted to the question that was seen."""
        asked = (self.decision.key, self.decision.evidence, *(each.label for each in self.answers[:1]))
        return sha256("\0".join(asked).encode()).hexdigest()[:16]

    @property
    def about_columns(self) -> bool:
        return bool(self.decision.field) or self.decision.name == "match"


def questions(decisions: Iterable[Decision], header: Sequence[str], addable: Mapping[int, NewColumn]) -> list[Question]:
    """The questions of a reading, in its order. `addable`: the column that could be added for a field, by position."""
    by_field = {field_name(header, number): number for number in addable}
    asked = []
    for guess in decisions:
        if guess.guessed:
            answers = [_button(guess, answer, header) for answer in guess.answers]
            # A name that is like that of a free column is probably misspelt.
            if guess.name == "mapping" and guess.field in by_field and len(answers) == 1:
                number = by_field[guess.field]
                answers.append(_add_button({number: addable[number]}))
            asked.append(Question(guess, tuple(answers)))
    return asked


def addable_columns(
    connection: Connection, table: Table, profile: Profile, mapping: Sequence[ColumnMapping]
) -> dict[int, NewColumn]:
    """For each field without a column, the one that could be added to the table, by the field's position (from 0).

    Name and type are as for a new table. Empty if the account may not alter the table, which may be a view.
    """
    numbers = [number for number, each in enumerate(mapping) if not each.column and profile.header[number].strip()]
    if not numbers or not table.engine or not has_table_privilege(connection, table.schema, table.name, "ALTER"):
        return {}
    columns = suggest_table(table.schema, table.name, profile).columns
    known = {name.lower() for name in table.column_names}
    return {
        number: NewColumn(columns[number].name, columns[number].type)
        for number in numbers
        if columns[number].name.lower() not in known
    }


def _add_button(columns: Mapping[int, NewColumn]) -> AnswerButton:
    """The button that adds columns to the table for the fields at these positions (from 0)."""
    fields = {f"column_{number}": each.name for number, each in columns.items()}
    fields |= {f"add_{number}": each.type for number, each in columns.items()}
    first = next(iter(columns.values()))
    words = f"the column {first.name} {first.type}" if len(columns) == 1 else f"{len(columns)} columns"
    return AnswerButton(f"Add {words}", json.dumps(fields), ())


def _button(guess: Decision, answer: Answer, header: Sequence[str]) -> AnswerButton:
    return AnswerButton(_as_sentence(answer.label, guess), button_value(guess, answer, header), _shows(guess, answer))


def _shows(guess: Decision, answer: Answer) -> tuple[str, ...]:
    """The values under an answer; none about a field's column, since the grid shows the field's values."""
    return () if guess.name == "mapping" else answer.shows


def leave_all_out(questions: Sequence[Question], header: Sequence[str]) -> str:
    """The value of the button that leaves out every field that is asked about because it has no column; "" for few."""
    numbers = {field_name(header, number): number for number in range(len(header))}
    asked = [each.decision.field for each in questions if each.decision.name == "mapping"]
    return json.dumps({f"column_{numbers[name]}": "" for name in asked}) if len(asked) >= FEW else ""


def add_all(
    questions: Sequence[Question], header: Sequence[str], addable: Mapping[int, NewColumn]
) -> AnswerButton | None:
    """The button that adds a column for every field that is asked about because it has none; None for few."""
    asked = {each.decision.field for each in questions if each.decision.name == "mapping"}
    columns = {number: each for number, each in addable.items() if field_name(header, number) in asked}
    return _add_button(columns) if len(columns) >= FEW else None


def _as_sentence(label: str, guess: Decision) -> str:
    """The label with a capital letter, unless it begins with a name, as that of an encoding."""
    return label if guess.name == "encoding" else label[:1].upper() + label[1:]

"""The questions of an import on its page: evidence, and a button for each answer with the values under it."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from dashboard.new_import.stated_fields import button_value
from importer.engine.mapping.columns import field_name
from importer.engine.source.profile.decisions import Answer, Decision

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
    def about_columns(self) -> bool:
        return bool(self.decision.field) or self.decision.name == "match"


def questions(decisions: Iterable[Decision], header: Sequence[str]) -> list[Question]:
    """The questions of a reading, in its order."""
    return [
        Question(guess, tuple(_button(guess, answer, header) for answer in guess.answers))
        for guess in decisions
        if guess.guessed
    ]


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


def _as_sentence(label: str, guess: Decision) -> str:
    """The label with a capital letter, unless it begins with a name, as that of an encoding."""
    return label if guess.name == "encoding" else label[:1].upper() + label[1:]

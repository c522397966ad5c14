"""What a page shows of a file that cannot be read: its lines, the field of the format at fault, a way out."""

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from dashboard.fields.format_fields import FormatInput, format_inputs
from dashboard.new_import.form import NewImportForm
from dashboard.new_import.preview import Preview, read_format
from dashboard.new_import.stated_fields import ANSWER, with_answers
from importer.engine.errors import Problem, SourceProblem
from importer.engine.source.profile.fault_lines import ShownLine

# For a field of the format, the text with which such a file can often be read, and the words of its button.
REMEDIES = {"quote": ("", "Read without quotes"), "line_end": ("any", "Read with any line end")}


@dataclass(frozen=True)
class Remedy:
    """A button that answers a field of the format, so that the file can be read."""

    words: str
    answer: str


@dataclass(frozen=True)
class Unreadable:
    """What the page shows of the fault. `wrong`: the fields of the format that it is about; `others`: all others."""

    lines: Sequence[ShownLine]
    remedy: Remedy | None
    wrong: Sequence[FormatInput]
    others: Sequence[FormatInput]


def unreadable(preview: Preview, texts: Mapping[str, str]) -> Unreadable | None:
    """The fault of a file that cannot be read in its format; None if it can."""
    problem = preview.problem
    if preview.profile or not isinstance(problem, SourceProblem):
        return None
    inputs = format_inputs(texts)
    wrong = [each for each in inputs if each.field.name == problem.option]
    others = [each for each in inputs if each not in wrong]
    return Unreadable(problem.lines, _remedy(preview, problem.option), wrong, others)


def _remedy(preview: Preview, option: str) -> Remedy | None:
    """The button for this field; None without one, or if the file cannot be read with its answer either."""
    if option not in REMEDIES:
        return None
    text, words = REMEDIES[option]
    answer = json.dumps({option: text})
    with suppress(Problem):
        choices = NewImportForm(with_answers({**preview.choices.values, ANSWER: answer}))
        read_format(Preview(preview.source, choices, table=preview.table))
        return Remedy(words, answer)
    return None

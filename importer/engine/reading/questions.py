"""The problem of an import that waits for answers: the questions, their evidence, and the flags that answer them."""

from collections.abc import Iterator, Sequence
from typing import Any

from importer.engine.errors import Problem
from importer.engine.reading.reading import Reading, reading_to_json
from importer.engine.source.decisions import Decision
from importer.engine.source.formats.choice import MEMBER
from importer.engine.source.records.row_error import shortened

MOST_QUESTIONS = 10


class NeedsAnswer(Problem):
    """The file can be read in more than one way, and the ways would store different rows. Nothing was written."""

    code = 1400

    def __init__(self, reading: Reading, where: str) -> None:
        self.reading = reading
        count = len(reading.guesses)
        super().__init__(
            reading.guesses[0].evidence if count == 1 else f"{count} questions about the file. {_first(reading)}",
            where,
            "Answer with one of the flags that are named, or continue with --accept-guesses.",
        )

    def __str__(self) -> str:
        return "\n".join(question_lines(self.reading.guesses, self.where))

    def as_json(self) -> dict[str, Any]:
        """The problem, with its reading, as a job or run stores it."""
        return {**super().as_json(), "reading": reading_to_json(self.reading)}


def _first(reading: Reading) -> str:
    return f"The first: {reading.guesses[0].evidence}"


def question_lines(guesses: Sequence[Decision], where: str) -> Iterator[str]:
    """The questions for a terminal: evidence, and each answer with its flag and the values under it."""
    yield f"{where}: nothing was written. {len(guesses)} question{'s' if len(guesses) > 1 else ''} first:"
    for number, guess in enumerate(guesses[:MOST_QUESTIONS], start=1):
        yield f"{number}. {guess.evidence}"
        yield from _answer_lines(guess)
    if len(guesses) > MOST_QUESTIONS:
        yield f"and {len(guesses) - MOST_QUESTIONS} more; --json lists all."
    if any(guess.name == "mapping" for guess in guesses):
        yield "--ignore-fields leaves out all fields that have no column."
    if any(guess.name == MEMBER.option for guess in guesses):
        yield "--all-members reads all files of the archive as one."
    yield "--accept-guesses continues with the first answer to each."


def _answer_lines(guess: Decision) -> Iterator[str]:
    for answer in guess.answers:
        yield f"     {answer.label}: {answer.flag}{_shown(answer.shows)}"


def _shown(texts: Sequence[str]) -> str:
    return "".join(f"\n         {shortened(text)}" for text in texts)

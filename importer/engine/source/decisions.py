"""The decisions about a file: what was decided, how sure it is, on which evidence, and how to decide otherwise."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from importer.engine.source.dialect import escape_mark

# The most lines of a kind whose text is kept.
MOST_LINES_SHOWN = 10
# What a sample only suggests is proved by this many records that speak for it, if none speaks against it.
PROVING_RECORDS = 10


class Standing(StrEnum):
    """How sure a decision is (docs/contracts.md).

    `PROVED`: the sample and the table allow nothing else. `STATED`: a flag, a form field, a preset or a schedule said
    so. `RULE`: a documented default. `GUESSED`: another reading is possible and would store something else; the import
    stops with the question before anything is written.
    """

    PROVED = "proved"
    STATED = "stated"
    RULE = "rule"
    GUESSED = "guessed"


@dataclass(frozen=True)
class Answer:
    """One answer to the question of a guess.

    `label`: the answer in words. `flag`: the option of the command line that states it, such as `--no-header`.
    `states`: the names and values that it states: fields of Dialect, or of ColumnMapping for a column. `shows`: the
    first lines or values on which the answers differ, as this answer reads them.
    """

    label: str
    flag: str
    states: tuple[tuple[str, Any], ...] = ()
    shows: tuple[str, ...] = ()


def answer(label: str, shows: Sequence[str] = (), **states: Any) -> Answer:
    """An answer that states fields of Dialect, whose options have their names."""
    flags = (_flag(name.replace("_", "-"), value) for name, value in states.items())
    return Answer(label, " ".join(flags), tuple(states.items()), tuple(shows))


def _flag(option: str, value: Any) -> str:
    if isinstance(value, bool):
        return f"--{'' if value else 'no-'}{option}"
    text = str(value)
    if re.fullmatch(r"[\w.-]+", text):
        return f"--{option} {text}"
    written = escape_mark(text) if option in ("delimiter", "comment") else text
    return f'--{option} "{written}"' if "'" in written else f"--{option} '{written}'"


@dataclass(frozen=True)
class Decision:
    """One decision about a file.

    `name`: the field of Dialect, or "mapping", "skipped_lines", "format" and the like. `field`: the field of the file
    that it is about, "" for the whole file. `value`: the decision in words. `answers`: the possible answers to a
    guess, the proposed one first; other decisions have none. `records`: how many records of the sample speak for it,
    `of` how many could have spoken against it; 0 and 0 where no record has a say.
    """

    name: str
    value: str
    standing: Standing
    evidence: str
    field: str = ""
    answers: tuple[Answer, ...] = ()
    records: int = 0
    of: int = 0

    @property
    def guessed(self) -> bool:
        return self.standing is Standing.GUESSED

    def weighed(self, records: int, of: int) -> "Decision":
        """The decision with its evidence, which proves it if all of at least PROVING_RECORDS records speak for it."""
        proved = records == of >= PROVING_RECORDS
        if proved:
            return replace(self, standing=Standing.PROVED, answers=(), records=records, of=of)
        return replace(self, records=records, of=of)

    @property
    def key(self) -> str:
        """The decision's name in a form: `header`, or `format:price` for one about a field."""
        return f"{self.name}:{self.field}" if self.field else self.name


def asked(name: str, evidence: str, *answers: Answer, value: str = "", proved: bool = False) -> Decision:
    """A guess, unless it is proved. Its value is what the first answer states, unless it is given in other words."""
    text = value or in_words(answers[0].states[0][1])
    if proved:
        return Decision(name, text, Standing.PROVED, evidence)
    return Decision(name, text, Standing.GUESSED, evidence, answers=answers)


def in_words(value: Any) -> str:
    """A field of Dialect as the value of a decision."""
    return ("no", "yes")[value] if isinstance(value, bool) else str(value) or "none"


@dataclass(frozen=True)
class SkippedLine:
    """A line that is no record: its number (from 1), its text, and its kind, one of LINE_KINDS."""

    line: int
    text: str
    kind: str

    @property
    def words(self) -> str:
        """The kind in words."""
        return LINE_KINDS[self.kind]


# The kinds of lines that are no records, with the words that readers see.
LINE_KINDS = {
    "header": "header",
    "preamble": "above the table",
    "comment": "comment",
    "blank": "blank",
    "footer": "footer",
}

"""Chooses the part of a file that is read: a sheet, a table of a dump, a member of an archive."""

from collections.abc import Sequence
from dataclasses import dataclass

from importer.engine.source.decisions import Answer, Decision, Standing
from importer.engine.source.formats.header_names import match_names

MOST_SHOWN = 20


@dataclass(frozen=True)
class Part:
    """A part that can be read: its name, the names of its fields, and what a question shows of it."""

    name: str
    fields: tuple[str, ...]
    shows: tuple[str, ...] = ()


@dataclass(frozen=True)
class Choice:
    """How a part is stated: the field of Dialect, its flag, and the word for a part, such as sheet."""

    option: str
    flag: str
    word: str

    def of(self, parts: Sequence[Part], columns: Sequence[str]) -> tuple[Part, Decision]:
        """The part to read of at least one, and the decision: the only one, or the only one that fits the columns.

        Otherwise it is a question, and the part that fits best is proposed.
        """
        ranked = sorted(parts, key=lambda part: -_share(part, columns))
        best = ranked[0]
        if len(parts) == 1:
            return best, self._decision(best, Standing.PROVED, f"{best.name} is the only {self.word} with rows.")
        fitting = [part for part in parts if columns and _share(part, columns) == 1]
        if len(fitting) == 1:
            evidence = f"{best.name} is the only {self.word} whose fields all have a column in the table."
            return best, self._decision(best, Standing.PROVED, evidence)
        answers = tuple(
            Answer(
                f"the {self.word} {each.name}", f"{self.flag} '{each.name}'", ((self.option, each.name),), each.shows
            )
            for each in ranked[:MOST_SHOWN]
        )
        evidence = f"The file has {len(parts):,} {self.word}s with rows, and one is read at a time."
        return best, Decision(self.option, best.name, Standing.GUESSED, evidence, answers=answers)

    def stated(self, part: Part) -> tuple[Part, Decision]:
        """A part that the user has named, and the decision."""
        return part, self._decision(part, Standing.STATED, f"The {self.word} {part.name} is read.")

    def _decision(self, part: Part, standing: Standing, evidence: str) -> Decision:
        return Decision(self.option, part.name, standing, evidence)


MEMBER = Choice("member", "--member", "file")


def listed(names: Sequence[str]) -> str:
    """The first names, for a message."""
    return ", ".join(names[:MOST_SHOWN]) + (", ..." if len(names) > MOST_SHOWN else "")


def _share(part: Part, columns: Sequence[str]) -> float:
    """The share of the part's fields that have a column."""
    found = match_names(part.fields, columns)
    return sum(map(bool, found)) / len(found) if found else 0

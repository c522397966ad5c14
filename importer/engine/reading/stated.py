"""The decisions that a user has stated, by a flag, a form field, a preset or a schedule."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from importer.engine.source.decisions import Decision, Standing


@dataclass(frozen=True)
class Stated:
    """The decisions that are not asked for, since a user made them.

    `format`, `mapping`: all decisions about the file's format, or about columns, as a preset states them. `keys`: the
    Decision.key of each answered question. `fields`: positions (from 0) of fields whose column was given.
    `formats`: positions of fields whose transforms or date format were given.
    `ignore_fields`: fields without a column are meant to go nowhere.
    """

    format: bool = False
    mapping: bool = False
    keys: frozenset[str] = frozenset()
    fields: frozenset[int] = frozenset()
    formats: frozenset[int] = frozenset()
    ignore_fields: bool = False

    def leaves_out(self, number: int) -> bool:
        """Whether the field at this position (from 0), which has no column, is meant to go nowhere."""
        return self.mapping or self.ignore_fields or number in self.fields

    def keeping(self, fields: frozenset[int]) -> "Stated":
        """With column and format of the fields at these positions (from 0), which an earlier import has answered."""
        return replace(self, fields=self.fields | fields, formats=self.formats | fields)

    def settle(self, decisions: Iterable[Decision]) -> tuple[Decision, ...]:
        """The decisions; a guess that the user has answered is stated."""
        return tuple(
            replace(each, standing=Standing.STATED, answers=()) if each.guessed and each.key in self.keys else each
            for each in decisions
        )


NOTHING = Stated()

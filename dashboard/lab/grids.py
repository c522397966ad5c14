"""The grids that the page of a new lab offers: what each finds out, in words, and when it finds nothing out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from importer.engine.tuning.grid import GRIDS, TUNABLE, Grid, Settings, Value
from importer.engine.tuning.value_syntax import write_values

OWN = "own"
FIRST = "chunks"


@dataclass(frozen=True)
class Offer:
    """A grid that the page offers as a card: its title, and what it finds out.

    `about` is the setting of which at least two values must be possible; "": any of the grid's.
    """

    name: str
    title: str
    finds: str
    about: str = ""

    @property
    def values(self) -> Mapping[str, tuple[Value, ...]]:
        """The default values to try, by setting."""
        return GRIDS[self.name].values if self.name in GRIDS else {}

    @property
    def settings(self) -> tuple[str, ...]:
        """The settings that the grid varies; for OWN, all that can be varied."""
        return tuple(self.values) or TUNABLE

    def written(self, name: str) -> str:
        """The default values of a setting as text for its field."""
        return write_values(name, self.values.get(name, ()))

    def why_not(self, tried: Sequence[Settings], left_out: Sequence[Mapping[str, Any]]) -> str:
        """Why the grid finds nothing out, if no two values of `about` can be tried; "" if it does."""
        values = [each.get(self.about) for each in tried]
        if not self.about or any(value != values[0] for value in values):
            return ""
        others = (each for each in left_out if each["settings"].get(self.about) not in values)
        return next((str(each["why"]) for each in others), "")

    def grid(self, values: Mapping[str, tuple[Value, ...]]) -> Grid:
        """The grid with these values."""
        return Grid(self.name, values, GRIDS[self.name].about if self.name in GRIDS else "own mix of settings")


OFFERS = (
    Offer("chunks", "Chunk size and sessions", "How large transactions should be, and how many load in parallel."),
    Offer(
        "indexes",
        "Keys before or after",
        "Whether secondary keys come off and are built when the rows are in.",
        "indexes",
    ),
    Offer(
        "foreign-keys",
        "Keys and foreign keys",
        "The same with foreign keys, whose parents are looked up row by row.",
        "foreign_keys",
    ),
    Offer("methods", "Methods", "What LOAD DATA gains over INSERT here, and how many rows a statement should have."),
    Offer(
        "checks",
        "Checks",
        "What unique and foreign key checks cost. Without them, duplicates and rows without a parent can be stored.",
    ),
    Offer("commits", "Rows per commit", "What frequent commits cost: small ones lose less when one is repeated."),
    Offer(
        "partitions",
        "Hash partitions",
        "Whether sessions get out of each other's way in a partitioned table.",
        "partitions",
    ),
    Offer(OWN, "Your own mix", "Begins with the values shown; change them, and add any other setting."),
)


def offered(name: str) -> Offer:
    """The offer of this name; that of FIRST for an unknown name."""
    return next((each for each in OFFERS if each.name == name), next(each for each in OFFERS if each.name == FIRST))

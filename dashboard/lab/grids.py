"""The grids that the page of a new lab offers: what each finds out, in words, and for which tables it is useless."""

from collections.abc import Mapping
from dataclasses import dataclass

from importer.engine.schema.table import Table
from importer.engine.tuning.grid import GRIDS, TUNABLE, Grid, Value
from importer.engine.tuning.value_syntax import write_values

OWN = "own"
FIRST = "chunks"


@dataclass(frozen=True)
class Offer:
    """A grid that the page offers as a card: its title, and what it finds out."""

    name: str
    title: str
    finds: str

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

    def grid(self, values: Mapping[str, tuple[Value, ...]]) -> Grid:
        """The grid with these values."""
        return Grid(self.name, values, GRIDS[self.name].about if self.name in GRIDS else "own mix of settings")


OFFERS = (
    Offer("chunks", "Chunk size and sessions", "How large transactions should be, and how many load in parallel."),
    Offer("indexes", "Keys before or after", "Whether secondary keys come off and are built when the rows are in."),
    Offer(
        "foreign-keys",
        "Keys and foreign keys",
        "The same with foreign keys, whose parents are looked up row by row.",
    ),
    Offer("methods", "Methods", "What LOAD DATA gains over INSERT here, and how many rows a statement should have."),
    Offer("checks", "Checks", "What unique and foreign key checks cost, which leaving them out would save."),
    Offer("commits", "Rows per commit", "What frequent commits cost: small ones lose less when one is repeated."),
    Offer("partitions", "Hash partitions", "Whether sessions get out of each other's way in a partitioned table."),
    Offer(OWN, "Your own mix", "Begins with the values shown; change them, and add any other setting."),
)


def offered(name: str) -> Offer:
    """The offer of this name; that of FIRST for an unknown name."""
    return next((each for each in OFFERS if each.name == name), next(each for each in OFFERS if each.name == FIRST))


def why_not(offer: Offer, table: Table, foreign_keys: int) -> str:
    """Why the grid is useless for this table, which has `foreign_keys` foreign keys; "" if it is not."""
    names = {each.name for each in table.keys}
    if offer.name == "indexes" and all(each.unique for each in table.keys):
        return "the table has no keys but unique ones"
    if offer.name == "foreign-keys" and not foreign_keys:
        return "the table has no foreign keys"
    if offer.name == "partitions" and "PRIMARY" not in names:
        return "the table has no primary key"
    return ""

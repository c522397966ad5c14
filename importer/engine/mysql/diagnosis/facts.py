"""What the application knows about an import, in plain values."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Facts:
    """An import as the application knows it.

    `connections`: its connections to the server. `others`: connections of other imports, with the import's number.
    """

    number: int = 0
    status: str = ""
    schema: str = ""
    table: str = ""
    connections: tuple[int, ...] = ()
    others: Mapping[int, int] = field(default_factory=dict)

    @property
    def full_name(self) -> str:
        return f"{self.schema}.{self.table}"

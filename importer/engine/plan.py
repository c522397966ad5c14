"""What will be done and why, before anything is touched."""

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Options:
    """What somebody asked for; None leaves the choice to the planner. Sizes are bytes."""

    mode: str = "append"
    on_error: str = "stop"
    on_duplicate: str = "fail"
    method: str = "load_data_local"
    indexes: str = "keep"
    chunk_bytes: int | None = None
    parallelism: int | None = None

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class Reason:
    """One choice and why it was made; `holds_back` marks what on the server keeps the load slower than it could be."""

    choice: str
    why: str
    holds_back: bool = False


@dataclass(frozen=True)
class ImportPlan:
    """How a file goes into a table: everything a worker needs besides the file and the address."""

    method: str
    schema: str
    table: str
    statement: str
    chunk_bytes: int
    parallelism: int
    # The columns in the order of the file's fields; "" for a field that is left out.
    fields: tuple[str, ...]
    reasons: tuple[Reason, ...]

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> "ImportPlan":
        reasons = tuple(Reason(**each) for each in values["reasons"])
        return cls(**{**values, "fields": tuple(values["fields"]), "reasons": reasons})

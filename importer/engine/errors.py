"""What can go wrong, said so that its reader knows what, where, and what to do next."""

from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True)
class BadRow:
    """A row that the server would have changed or skipped: file line (1-based), column, value and the reason."""

    line: int
    column: str
    value: str
    reason: str
    code: int = 0


@dataclass
class Problem(Exception):
    """Anything that stops an import or part of it.

    `what` happened, `where` (file, line, server...), and `advice`: what to do next. `retryable` tells whether the
    same step may well succeed a little later (a lost connection, a deadlock), `rows` names the rows at fault,
    `bad_rows` counts them all. `option` is the field of Options at fault, beside which pages say it.
    """

    what: str
    where: str = ""
    advice: str = ""
    retryable: bool = False
    rows: tuple[BadRow, ...] = field(default=())
    bad_rows: int = 0
    option: str = ""

    def __str__(self) -> str:
        said = f"{self.where}: {self.what}" if self.where else self.what
        return f"{said} {self.advice}".strip()

    def as_json(self) -> dict[str, Any]:
        return {"kind": type(self).__name__, **asdict(self)}


class SourceProblem(Problem):
    """The file cannot be read as what it claims to be."""


class RecordUnreadable(SourceProblem):
    """A record of the file cannot be read safely; those beside it can."""


class SourceChanged(SourceProblem):
    """The file is no longer what the scan saw."""


class TargetProblem(Problem):
    """The server, the account or the table does not allow it."""


class RowsRefused(Problem):
    """The server would have changed or skipped rows of a chunk; nothing of the chunk was kept."""


class TooManyRejects(Problem):
    """More rows cannot go in than may be left out."""


class Cancelled(Problem):
    """Somebody asked for it to stop."""


class MethodRefused(TargetProblem):
    """The server does not take what the method does; another one may well do."""

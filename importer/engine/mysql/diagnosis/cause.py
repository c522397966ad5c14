"""A cause that an import waits or is slow, and what is said when it fits."""

from collections.abc import Callable
from dataclasses import dataclass

from importer.engine.mysql.diagnosis.counters import Counters
from importer.engine.mysql.diagnosis.facts import Facts
from importer.engine.mysql.diagnosis.sessions import Session
from importer.engine.mysql.diagnosis.snapshot import Snapshot


@dataclass(frozen=True)
class Evidence:
    """What the causes are tested on: a look at the server, its counters a while before, and the import's facts."""

    facts: Facts
    snapshot: Snapshot | None = None
    before: Counters | None = None

    @property
    def own(self) -> list[Session]:
        """The import's own connections, as the server shows them."""
        if self.snapshot is None:
            return []
        return [each for each in self.snapshot.sessions if each.id in self.facts.connections]


@dataclass(frozen=True)
class Explanation:
    """Why an import waits or is slow, for people.

    `cause`: the name of the cause. `what`: one sentence. `evidence`: what shows it. `advice`: what can be done.
    `holder`: the connection that is in the way, 0 for none; its `account`, and its `statement`, which can contain data
    of others. `sql`: the statement that would end it, to copy; Millrace never runs it. `waits`: nothing moves;
    otherwise it is only slow.
    """

    cause: str
    what: str
    evidence: str = ""
    advice: str = ""
    holder: int = 0
    account: str = ""
    statement: str = ""
    sql: str = ""
    waits: bool = True


@dataclass(frozen=True)
class Cause:
    """A cause: its name, and the function that explains it if it fits, else returns None."""

    name: str
    explain: Callable[[Evidence], Explanation | None]

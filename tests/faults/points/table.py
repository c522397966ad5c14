"""Which faults are tried at which points, with which import, and which ones are left out and why."""

from collections.abc import Iterator
from dataclasses import dataclass

# Each fault, and what it does to the processes that stopped at the point.
FAULTS = {
    "child killed": "SIGKILL for the process itself",
    "worker killed": "SIGKILL for the worker with all its processes at once; then another one starts",
    "frozen": "the process stays stopped until its lease has expired and others have done its work; then it continues",
    "cut": "its connections to the target are dropped; it continues",
    "answer lost": "it continues; the server does its next COMMIT or RENAME, and the answer is lost",
    "server killed": "SIGKILL for the target's server; it continues; then the server starts again",
    "disk full": "it continues, and no file that it writes may have a byte; later there is room again",
    "target full": "it continues, and no file of the target's server may grow; later there is room again",
}

# The import that reaches each point (imports.py), by the name of the point or of its group.
REACHED_BY = {
    "scan": "alone",
    "copy": "packed",
    "chunk": "alone",
    "parents": "naming",
    "rejects": "rejecting",
    "group": "together",
    "stage": "merging",
    "merge": "merging",
    "change": "syncing",
    "swap": "replacing",
    "keys": "deferring",
    "restore": "deferring",
    "backup": "restoring",
    "undo": "undoing",
    "schedule": "scheduled",
    "outbox": "alone",
    "notice": "notified",
}
# With these the target's server makes no difference: they are tried on one server.
WITHOUT_TARGET = ("scan", "copy", "schedule", "outbox", "notice")

NO_CONNECTION = "the process has no connection to the target there"
NO_TARGET = "nothing happens on the target there"
NEXT_IS_NO_COMMIT = "the next statement is neither COMMIT nor RENAME"
NO_WORKER = "a command is a process of its own"
NOTHING_GROWS = (
    "what follows makes no file of the server larger, or only the keys (`tests/importer/worker/test_obstacles.py`)"
)
# The letter of each reason in the matrix.
REASONS = {NO_CONNECTION: "a", NO_TARGET: "b", NEXT_IS_NO_COMMIT: "c", NO_WORKER: "d", NOTHING_GROWS: "e"}

UNCONNECTED = ("chunk.claimed", "stage.claimed", "stage.finished", "stage.dropped", "backup.claimed")
BEFORE_COMMIT = (
    *("chunk.seen", "group.seen", "rejects.written", "merge.inserted", "swap.counted", "backup.connected"),
    *("undo.changed", "parents.inserted"),
)
BEFORE_MUCH_IS_WRITTEN = ("chunk.entered", "merge.entered")

# What `make test` tries, on one server: each fault, each import, and the faults that were found by these tests.
SAMPLE = {
    "copy.written": "child killed",
    "chunk.claimed": "child killed",
    "chunk.connected": "worker killed",
    "parents.inserted": "frozen",
    "chunk.entered": "target full",
    "chunk.sent": "server killed",
    "chunk.counted": "cut",
    "chunk.seen": "answer lost",
    "chunk.committed": "frozen",
    "rejects.complete": "child killed",
    "rejects.written": "disk full",
    "group.seen": "child killed",
    "stage.claimed": "frozen",
    "stage.connected": "frozen",
    "merge.inserted": "answer lost",
    "change.removed": "child killed",
    "change.updated": "server killed",
    "swap.counted": "frozen",
    "swap.renamed": "child killed",
    "keys.noted": "frozen",
    "keys.dropped": "child killed",
    "restore.begun": "child killed",
    "restore.keys": "cut",
    "backup.renamed": "child killed",
    "undo.changed": "child killed",
    "undo.committed": "worker killed",
    "schedule.recorded": "child killed",
    "schedule.created": "frozen",
    "outbox.committed": "child killed",
    "notice.sent": "child killed",
}


@dataclass(frozen=True)
class Case:
    """A fault at a point."""

    point: str
    fault: str

    @property
    def group(self) -> str:
        return self.point.partition(".")[0]

    @property
    def reached_by(self) -> str:
        """The name of the import that reaches the point."""
        if self.fault == "target full":
            return f"large {REACHED_BY[self.group]}"
        return REACHED_BY[self.group]

    @property
    def why_left_out(self) -> str:
        """The reason why the fault is not tried at the point; "" if it is."""
        match self.fault:
            case "worker killed" if self.group == "backup":
                return NO_WORKER
            case "cut" | "answer lost" | "server killed" | "target full" if self.group in WITHOUT_TARGET:
                return NO_TARGET
            case "cut" if self.point in UNCONNECTED:
                return NO_CONNECTION
            case "answer lost" if self.point not in BEFORE_COMMIT:
                return NEXT_IS_NO_COMMIT
            case "target full" if self.point not in BEFORE_MUCH_IS_WRITTEN:
                return NOTHING_GROWS
        return ""


def cases(points: list[str]) -> Iterator[Case]:
    """Every fault at each of the points, also those that are left out."""
    for point in points:
        for fault in FAULTS:
            yield Case(point, fault)

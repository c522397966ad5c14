"""Finds who holds the lock that an import's connection waits for, through everybody that waits in between."""

import re
from dataclasses import dataclass

from importer.engine.mysql.diagnosis.cause import Evidence
from importer.engine.mysql.diagnosis.sessions import MetadataLock, Session
from importer.engine.mysql.diagnosis.snapshot import Snapshot

# For each requested lock of a table, the locks of other sessions that conflict with it (MySQL source, sql/mdl.cc, the
# matrices of MDL_scoped_lock and MDL_object_lock).
_EXCLUSIVE, _WRITES = {"EXCLUSIVE"}, {"SHARED_NO_READ_WRITE", "EXCLUSIVE"}
CONFLICTS: dict[str, set[str]] = {
    "SHARED": _EXCLUSIVE,
    "SHARED_HIGH_PRIO": _EXCLUSIVE,
    "SHARED_READ": _WRITES,
    "SHARED_WRITE": {"SHARED_READ_ONLY", "SHARED_NO_WRITE", *_WRITES},
    "SHARED_WRITE_LOW_PRIO": {"SHARED_READ_ONLY", "SHARED_NO_WRITE", *_WRITES},
    "SHARED_UPGRADABLE": {"SHARED_UPGRADABLE", "SHARED_NO_WRITE", *_WRITES},
    "SHARED_READ_ONLY": {"SHARED_WRITE", "SHARED_WRITE_LOW_PRIO", "SHARED_NO_WRITE", *_WRITES},
    "SHARED_NO_WRITE": {"SHARED_WRITE", "SHARED_UPGRADABLE", "SHARED_READ_ONLY", "SHARED_NO_WRITE", *_WRITES},
    "SHARED_NO_READ_WRITE": {
        *("SHARED_READ", "SHARED_WRITE", "SHARED_UPGRADABLE", "SHARED_READ_ONLY", "SHARED_NO_WRITE"),
        *_WRITES,
    },
    "INTENTION_EXCLUSIVE": {"SHARED", "EXCLUSIVE"},
}
ANY = {kind for kinds in CONFLICTS.values() for kind in kinds} | set(CONFLICTS)
BACKUP = ("BACKUP_", "GLOBAL")
DDL = re.compile(
    r"\s*(/\*.*?\*/\s*)*(ALTER|CREATE|DROP|RENAME|TRUNCATE|OPTIMIZE|ANALYZE|REPAIR|CHECK|FLUSH)\b", re.IGNORECASE
)
SHORTEST_WAIT = 1  # seconds: shorter waits are a part of normal work
GLOBAL_STATE = re.compile(r"Waiting for (global read|backup|commit) lock", re.IGNORECASE)


@dataclass(frozen=True)
class Block:
    """A connection of the import that waits, and who is in its way.

    `kind`: "table", "server" or "row". `holder`: the connection at the end of the chain, None if the server does not
    tell it. `by`: those that wait in between, the one next to the import first. `candidates`: who could hold the lock,
    where the server does not tell. `lock`: the kind of the holder's lock, if the server tells.
    """

    waiting: Session
    kind: str
    holder: Session | None = None
    by: tuple[Session, ...] = ()
    candidates: tuple[Session, ...] = ()
    lock: str = ""


def find_block(evidence: Evidence) -> Block | None:
    """What blocks the import: of its connections that wait for a lock of others, the one that has waited longest.

    None if none waits, or only for other connections of the import, which release their locks by themselves.
    """
    snapshot = evidence.snapshot
    if snapshot is None:
        return None
    row_waiters = {each.waiting for each in snapshot.row_waits}
    waiting = [
        each
        for each in evidence.own
        if (each.waits_for_lock or each.id in row_waiters) and each.seconds >= SHORTEST_WAIT
    ]
    longest_first = sorted(waiting, key=lambda each: -each.seconds)
    blocks = (_block_of(evidence, snapshot, each, of_row=each.id in row_waiters) for each in longest_first)
    return next(filter(None, blocks), None)


def _block_of(evidence: Evidence, snapshot: Snapshot, waiting: Session, *, of_row: bool) -> Block | None:
    """Who is in the way of this connection; None if that is the import itself."""
    if of_row:
        return _followed(evidence, snapshot, waiting, "row")
    if "table level lock" in waiting.state.lower():
        return _guessed(evidence, snapshot, waiting, "table")
    kind = "server" if GLOBAL_STATE.search(waiting.state) else "table"
    block = _followed(evidence, snapshot, waiting, kind)
    return _guessed(evidence, snapshot, waiting, kind) if block and not block.holder else block


def _followed(evidence: Evidence, snapshot: Snapshot, waiting: Session, kind: str) -> Block | None:
    """The block with the holder at the end of the chain of waits, if the server tells it.

    None if the chain ends at the import's own connections.
    """
    chain, at, lock = [waiting], waiting, ""
    while (found := _next_holder(evidence, snapshot, at)) and found[0] not in chain:
        at, lock = found
        chain.append(at)
    followed = len(chain) > 1
    # An ALTER TABLE can wait for the import itself, which then waits behind it.
    while len(chain) > 1 and chain[-1].id in evidence.facts.connections:
        chain.pop()
        lock = ""
    if len(chain) > 1:
        return Block(waiting, kind, chain[-1], tuple(chain[1:-1]), lock=lock)
    return None if followed else Block(waiting, kind)


def _next_holder(evidence: Evidence, snapshot: Snapshot, waiting: Session) -> tuple[Session, str] | None:
    """Who holds what this connection waits for, and the kind of lock.

    A granted lock goes before one asked for, and one of others before one of the import.
    """
    own = evidence.facts.connections
    for wait in sorted(snapshot.row_waits, key=lambda each: each.holding in own):
        if wait.waiting == waiting.id and (holder := snapshot.session(wait.holding)):
            return holder, "row"
    asked = [each for each in snapshot.locks if each.connection == waiting.id and not each.granted]
    if not asked and waiting.waits_for_lock and snapshot.mariadb:
        # MariaDB's plugin shows only locks that are granted: the wanted one is that of the table in the statement.
        asked = _asked_by_statement(evidence, waiting)
    for wanted in asked:
        others = [each for each in snapshot.locks if each.connection != waiting.id and _conflict(wanted, each)]
        for each in sorted(others, key=lambda each: (not each.granted, each.connection in own)):
            if holder := snapshot.session(each.connection):
                return holder, each.kind
    return None


def _asked_by_statement(evidence: Evidence, waiting: Session) -> list[MetadataLock]:
    if GLOBAL_STATE.search(waiting.state):
        return [MetadataLock(waiting.id, "BACKUP", granted=False)]
    kind = "EXCLUSIVE" if DDL.match(waiting.statement) else "SHARED_WRITE"
    return [MetadataLock(waiting.id, kind, evidence.facts.schema, evidence.facts.table, granted=False)]


def _conflict(wanted: MetadataLock, other: MetadataLock) -> bool:
    """Whether the lock of another connection does not let the wanted one in."""
    if wanted.kind == "BACKUP":
        return other.kind.startswith(BACKUP) and other.kind not in ("BACKUP_DML", "BACKUP_TRANS_DML", "BACKUP_DDL")
    if (wanted.schema, wanted.table) != (other.schema, other.table):
        return False
    return other.kind in (ANY if wanted.kind == "EXCLUSIVE" else CONFLICTS.get(wanted.kind, set()))


def _guessed(evidence: Evidence, snapshot: Snapshot, waiting: Session, kind: str) -> Block:
    """The block where the server does not tell who holds the lock: those that could.

    Another connection that changes the table's definition; else open transactions, the oldest first; else connections
    that run nothing, for at least as long as the import waits. None of them where the account does not see all.
    """
    if not snapshot.sees_others:
        return Block(waiting, kind)
    others = [each for each in snapshot.sessions if each.id != waiting.id and each.id not in evidence.facts.connections]
    changing = [each for each in others if DDL.match(each.statement) and evidence.facts.table in each.statement]
    running = [each for each in changing if not each.waits_for_lock]
    if kind == "table" and running and not DDL.match(waiting.statement):
        return Block(waiting, kind, running[0])
    if "table level lock" in waiting.state.lower():
        using = [each for each in others if evidence.facts.table in each.statement and not each.waits_for_lock]
        return Block(waiting, kind, using[0] if using else None, candidates=tuple(others if not using else ()))
    by = tuple(each for each in changing if each.waits_for_lock)[:1]
    if kind == "table" and (by or DDL.match(waiting.statement)):
        # An open transaction lets rows in, and no change of the definition.
        found = [each for each in others if each.transaction_seconds is not None and each not in by]
        found.sort(key=lambda each: -(each.transaction_seconds or 0))
        if by and not found:
            return Block(waiting, kind, by[0])
    else:
        found = [each for each in others if each.idle and each.seconds >= waiting.seconds]
        found.sort(key=lambda each: (each.database != evidence.facts.schema, each.seconds))
    return Block(waiting, kind, None, by, tuple(found))

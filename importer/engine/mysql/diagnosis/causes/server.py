"""A server that does not answer, refuses to write, or has no room."""

from importer.engine.errors import TargetUnreachable
from importer.engine.mysql.diagnosis.cause import Cause, Evidence, Explanation
from importer.engine.mysql.error_messages import NO_ROOM

# Limits of the account, not of the server.
ACCOUNT_LIMITS = (1203, 1226)
NO_CONNECTION_LEFT = (1040, *ACCOUNT_LIMITS)
READ_ONLY = (1290, 1792, 1836, 3032)
_READ_ONLY_VARIABLES = ("read_only", "super_read_only", "offline_mode")
SEMI_SYNC = "semi-sync ack"
# Seconds for which a restart is shown.
RESTARTED_SECONDS = 60
RETRIED = "It is tried again by itself."


def connections(evidence: Evidence) -> Explanation | None:
    """The server has no connection left, or the account."""
    snapshot = evidence.snapshot
    met = {evidence.facts.error, snapshot.error if snapshot else 0} & {*NO_CONNECTION_LEFT}
    if not met:
        return None
    if met & {*ACCOUNT_LIMITS}:
        return Explanation(
            "connections",
            "The server gives the import's account no more connections.",
            _said(evidence),
            f"{RETRIED} Load fewer chunks in parallel, or raise the account's limit or max_user_connections.",
        )
    most = snapshot.number("max_connections") if snapshot else None
    used = f"{snapshot.counters.connected} of {most} are in use." if snapshot and most else ""
    # Often the look gets no connection either. Then nobody knows the limit, and a fixed number could lower it.
    larger = f"on the server: SET GLOBAL max_connections = {2 * most};" if most else "raise max_connections."
    return Explanation(
        "connections",
        "The server has no connection left for the import.",
        used or _said(evidence),
        f"{RETRIED} Close connections that nobody uses, or {larger}",
    )


def unreachable(evidence: Evidence) -> Explanation | None:
    """The server does not answer."""
    seen = evidence.snapshot
    if seen is not None and seen.error in NO_CONNECTION_LEFT:
        return None
    # What a chunk met a while ago tells nothing about a server that answers now.
    problem = evidence.facts.problem if seen is None else seen.problem
    if problem.get("kind") != TargetUnreachable.__name__:
        return None
    return Explanation(
        "unreachable",
        f"The server of target {evidence.facts.target} does not answer.",
        _said(evidence),
        f"{RETRIED} Check that the server runs, and the network to it.",
    )


def restarted(evidence: Evidence) -> Explanation | None:
    """The server was restarted during the import."""
    snapshot = evidence.snapshot
    uptime = snapshot.counters.uptime if snapshot and not snapshot.problem else None
    if uptime is None or uptime >= min(RESTARTED_SECONDS, evidence.facts.age):
        return None
    return Explanation(
        "restarted",
        f"The server was restarted {uptime} s ago.",
        "What was not committed is rolled back, and loads again. Its buffer pool is empty and fills.",
        "The import continues by itself.",
        waits=False,
    )


def read_only(evidence: Evidence) -> Explanation | None:
    """The server accepts no changes."""
    if evidence.facts.error not in READ_ONLY:
        return None
    snapshot = evidence.snapshot
    on = [name for name in _READ_ONLY_VARIABLES if snapshot and snapshot.on(name)]
    switch = " ".join(f"SET GLOBAL {name} = OFF;" for name in reversed(on))
    return Explanation(
        "read_only",
        "The server is read-only.",
        f"{' and '.join(on)} is ON. {_said(evidence)}" if on else _said(evidence),
        f"{RETRIED} Load into the primary, not into a replica" + (f"; or on the server: {switch}" if on else "."),
        sql=switch,
    )


def server_full(evidence: Evidence) -> Explanation | None:
    """The server's disk, or the table, is full."""
    if evidence.facts.error not in NO_ROOM:
        return None
    return Explanation(
        "server_full",
        "The table or the disk of the server is full.",
        _said(evidence),
        f"{RETRIED} Make room on the server.",
    )


def semi_sync(evidence: Evidence) -> Explanation | None:
    """A commit waits for a replica."""
    waiting = [each for each in evidence.own if SEMI_SYNC in each.state.lower()]
    if not waiting:
        return None
    return Explanation(
        "semi_sync",
        "A COMMIT waits until a replica has confirmed it.",
        f"{len(waiting)} of the import's {len(evidence.own)} connections: {waiting[0].state}.",
        "Check the replicas and the network to them. After a timeout, the server continues without them.",
    )


def retry(evidence: Evidence) -> Explanation | None:
    """The last attempt failed, and is repeated."""
    problem = evidence.facts.problem
    if not problem:
        return None
    return Explanation("retry", "The last attempt failed, and is repeated.", _said(evidence), problem.get("advice", ""))


CAUSES = tuple(
    Cause(each.__name__, each) for each in (connections, unreachable, read_only, server_full, semi_sync, restarted)
)
# Named only if no other cause is.
LAST = (Cause("retry", retry),)


def _said(evidence: Evidence) -> str:
    """What the server, or the way to it, said."""
    snapshot = evidence.snapshot
    problem = evidence.facts.problem or (snapshot.problem if snapshot else {})
    return str(problem.get("what", ""))

"""Locks of others: of rows, of the table, of the whole server."""

from importer.engine.mysql.diagnosis.blockers import DDL, Block, find_block
from importer.engine.mysql.diagnosis.cause import Cause, Evidence, Explanation
from importer.engine.mysql.diagnosis.sessions import Session
from importer.engine.units import count_of

MOST_CANDIDATES = 3
# MyISAM, Aria and MEMORY (manual, Table Locking).
ENGINE_STATE = "table level lock"
PLUGIN = "INSTALL SONAME 'metadata_lock_info'"
_LOCKED_TABLES = ("SHARED_NO_READ_WRITE", "SHARED_READ_ONLY", "SHARED_NO_WRITE")


_SENTENCES = {
    "row_lock": "A row of {table} is locked {holder}.",
    "ddl": "{table} takes no rows while {verb} changes it, run {holder}.",
    "server_lock": "Nobody may write to the server: it is locked {holder}, with FLUSH TABLES WITH READ LOCK or by a"
    " backup.",
    "table_lock": "{table} is locked {holder}, with LOCK TABLES.",
    "engine_lock": "{table} takes one statement at a time, because its engine locks whole tables; in use {holder}.",
    "open_transaction": "The definition of {table} is held {holder}, whose transaction is open.",
}


def _name_of(block: Block) -> str:
    """The cause that the block is."""
    if ENGINE_STATE in block.waiting.state.lower():
        return "engine_lock"
    if block.kind != "table":
        return "row_lock" if block.kind == "row" else "server_lock"
    if block.holder and DDL.match(block.holder.statement):
        return "ddl"
    if block.holder:
        return "table_lock" if block.lock in _LOCKED_TABLES else "open_transaction"
    return "open_transaction" if block.by or DDL.match(block.waiting.statement) else "table_lock"


def _lock(name: str) -> Cause:
    def explain(evidence: Evidence) -> Explanation | None:
        block = find_block(evidence)
        return _explained(name, block, evidence) if block and _name_of(block) == name else None

    return Cause(name, explain)


CAUSES = tuple(map(_lock, _SENTENCES))


def lock_of_all(evidence: Evidence) -> Explanation | None:
    """The lock of others that all the import's connections wait for; None if one of them does not wait."""
    rows = {each.waiting for each in evidence.snapshot.row_waits} if evidence.snapshot else set()
    if not all(each.waits_for_lock or each.id in rows for each in evidence.own):
        return None
    return next(filter(None, (cause.explain(evidence) for cause in CAUSES)), None)


def _explained(cause: str, block: Block, evidence: Evidence) -> Explanation:
    holder = block.holder or (block.candidates[0] if len(block.candidates) == 1 else None)
    verb = _verb(holder.statement) if holder else ""
    table = evidence.facts.full_name
    return Explanation(
        cause=cause,
        what=_SENTENCES[cause].format(table=table, holder=_holder_or_candidates(block, evidence), verb=verb),
        evidence=" ".join(filter(None, (_waiting(block, evidence), *map(_behind, block.by), _held(holder)))),
        advice=_advice(block, holder, evidence),
        holder=holder.id if holder else 0,
        account=holder.account if holder else "",
        statement=holder.shown_statement if holder else "",
        sql=f"KILL {holder.id};" if holder and holder.id not in evidence.facts.others else "",
    )


def _who(session: Session, evidence: Evidence) -> str:
    if number := evidence.facts.others.get(session.id):
        return f"connection {session.id} of import {number}"
    return f"connection {session.id} ({session.account})"


def _holder_or_candidates(block: Block, evidence: Evidence) -> str:
    if block.holder:
        return f"by {_who(block.holder, evidence)}"
    if not block.candidates:
        return "by a connection that this account may not see"
    named = [_who(each, evidence) for each in block.candidates[:MOST_CANDIDATES]]
    return f"probably by {named[0]}" if len(named) == 1 else f"by one of: {', '.join(named)}"


def _waiting(block: Block, evidence: Evidence) -> str:
    own = evidence.own
    waiting = sum(each.waits_for_lock or each.id == block.waiting.id for each in own)
    state = block.waiting.state if block.waiting.waits_for_lock else "waiting for a row"
    some = f"{waiting} of" if waiting < len(own) else "All"
    count = "The import's connection" if len(own) == 1 else f"{some} the import's {len(own)} connections"
    verb = "has" if waiting == 1 else "have"
    return f"{count} {verb} waited for {block.waiting.seconds} s: {state[0].lower()}{state[1:]}."


def _behind(between: Session) -> str:
    return f"Connection {between.id} ({between.account}) waits before it, with {_verb(between.statement)}."


def _verb(statement: str) -> str:
    """The first two words of a statement: ALTER TABLE."""
    return " ".join(statement.split()[:2]).upper()


def _held(holder: Session | None) -> str:
    if holder is None:
        return ""
    does = "running a statement" if holder.statement else "idle"
    since = f"Connection {holder.id} has been {does} for {holder.seconds} s"
    if holder.transaction_seconds is None:
        return f"{since}."
    changed = f", with {count_of(holder.rows_changed, 'row')} changed" if holder.rows_changed else ""
    return f"{since}; its transaction has been open for {holder.transaction_seconds} s{changed}."


def _advice(block: Block, holder: Session | None, evidence: Evidence) -> str:
    ways = ["The import continues by itself when the lock is released."]
    if holder and holder.id in evidence.facts.others:
        return ways[0]
    if holder:
        ways.append(f"Ask {holder.account} to end it, or end that connection with KILL {holder.id}.")
    snapshot = evidence.snapshot
    if block.holder is None and snapshot and snapshot.missing:
        ways.append(f"To see who holds it: {'; '.join(snapshot.missing)}.")
    elif block.holder is None and snapshot and snapshot.mariadb:
        ways.append(f"MariaDB tells who holds it after {PLUGIN}.")
    return " ".join(ways)

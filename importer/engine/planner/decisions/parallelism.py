"""Decides the number of parallel chunks."""

from dataclasses import dataclass, replace

from importer.engine.mysql.server_info import Server
from importer.engine.plan.option_specs import MOST_PARALLELISM
from importer.engine.plan.plan import Reason
from importer.engine.planner.context import PlanningContext
from importer.engine.planner.decisions import network
from importer.engine.planner.decisions.chunks import SMALLEST_CHUNK, requests_small_transactions

# If the server runs loads into a table one at a time, a second session reads, connects and commits in the meantime.
WHERE_ONE_LOADS = 2
# Each small chunk waits for the disk at its COMMIT; one more session loads in the meantime (server-behaviour.md,
# Speed).
MORE_FOR_SMALL_CHUNKS = 1
# Connections of the account that queries, cancelling loads, and the job's other steps may need.
OTHER_CONNECTIONS = 3


@dataclass(frozen=True)
class _Choice:
    count: int
    why: str
    held_back: bool = False
    fixed: bool = False


def choose_parallelism(context: PlanningContext) -> tuple[int, Reason]:
    """The number of parallel chunks and its reason."""
    choice = _fixed(context) or _within_the_servers_limit(
        _requested(context) or _measured(context, _best(context)), context.server
    )
    if choice.fixed:
        return 1, Reason("One chunk after another", choice.why, True, "parallelism")
    return choice.count, Reason(
        f"{choice.count} in parallel",
        f"{choice.why}; the number can be changed while the import runs",
        choice.held_back,
        "parallelism",
    )


def of_chunks(reason: Reason, *, alone: bool) -> Reason:
    """The reason for several sessions; a file of one chunk `alone` leaves nothing for all but one."""
    if not alone:
        return reason
    return replace(reason, choice=f"1 of up to {reason.choice}", why=f"{reason.why}; the file is one chunk")


def _fixed(context: PlanningContext) -> _Choice | None:
    """One chunk at a time, if the options or the table allow no more; else None."""
    if context.server_file:
        return _Choice(1, "the server reads the whole file in one statement", fixed=True)
    if context.options.ordered:
        winner = "first" if context.options.on_clash == "skip" else "last"
        return _Choice(1, f"the {winner} in the file of rows with one key stays", fixed=True)
    if not context.rolls_back:
        return _Choice(1, f"{context.table.engine} lets one session write", fixed=True)
    if context.options.lock_table:
        return _Choice(1, "each holds the table's lock", fixed=True)
    return None


def _requested(context: PlanningContext) -> _Choice | None:
    count = context.options.parallelism
    return _Choice(min(count, MOST_PARALLELISM), "as requested") if count else None


def _best(context: PlanningContext) -> _Choice:
    server = context.server
    if context.data_bytes <= (context.options.chunk_bytes or SMALLEST_CHUNK):
        return _Choice(1, "the file is small")
    if context.loads_one_at_a_time:
        return _Choice(
            WHERE_ONE_LOADS,
            f"innodb_autoinc_lock_mode {server.variables['innodb_autoinc_lock_mode']} lets one load at a time into a"
            " table with AUTO_INCREMENT; the other commits and gets ready during that time",
            held_back=True,
        )
    if not server.local:
        return _Choice(network.sessions(context.distance), network.why(context.distance))
    if server.cores == 1:
        return _Choice(1, "this machine has one processor")
    shares = f"the server shares this machine's {server.cores} processors"
    if requests_small_transactions(context):
        return _Choice(server.cores + MORE_FOR_SMALL_CHUNKS, f"{shares}, and small chunks often wait for the disk")
    return _Choice(server.cores, shares)


def _measured(context: PlanningContext, choice: _Choice) -> _Choice:
    """The number with which earlier imports into this table were clearly faster, or else `choice`."""
    faster = context.past.preferred("parallelism", choice.count)
    return _Choice(int(faster.value), f"{faster}, compared with {choice.count}") if faster else choice


def _within_the_servers_limit(choice: _Choice, server: Server) -> _Choice:
    # 0 means no limit. A limit of the account itself is not visible (manual, Setting Account Resource Limits).
    limits = {name: server.number(name) for name in ("max_user_connections", "max_connections")}
    name, limit = min(((n, v) for n, v in limits.items() if v), key=lambda each: each[1], default=("", 0))
    room = max(1, limit - OTHER_CONNECTIONS)
    if not limit or choice.count <= room:
        return choice
    return _Choice(
        room,
        f"{name} is {limit}; SET GLOBAL {name} = {choice.count + OTHER_CONNECTIONS} would let {choice.count} load",
        held_back=True,
    )

"""Decides the variables of the loading sessions, refuses unsafe ones, and explains what each gives up."""

from collections.abc import Iterator

from importer.engine.errors import Problem, TargetProblem
from importer.engine.mysql.connection import ISOLATION, UTC
from importer.engine.mysql.quoting import quote_name
from importer.engine.mysql.variables.session_variables import SESSION_VARIABLES
from importer.engine.mysql.variables.variable import Value, parse_values, require_flavour
from importer.engine.plan.plan import Reason
from importer.engine.plan.server_file import LONGEST_SILENCE
from importer.engine.planner.context import PlanningContext
from importer.engine.planner.decisions.time_zone import session_zone
from importer.engine.schema.table import Key
from importer.engine.target.write_modes import CHANGING, SWAPPING

# A LOCK TABLES waits for every other import on the target; by default the servers let it wait for a day or a year.
LOCK_WAIT = 50  # seconds

_LEVELS = {
    "READ-UNCOMMITTED": "makes no difference: the load reads only its own rows",
    "READ-COMMITTED": "locks no gaps between keys, so that chunks do not wait for each other",
    "REPEATABLE-READ": "locks gaps between keys: chunks into one table wait for each other, or meet in deadlocks",
    "SERIALIZABLE": "locks gaps between keys, and what is read: chunks wait for each other, or meet in deadlocks",
}


def session(context: PlanningContext) -> dict[str, Value]:
    """The plan's session variables."""
    options = context.options
    variables: dict[str, Value] = {"lock_wait_timeout": LOCK_WAIT} if options.lock_table else {}
    if context.server_file:
        variables["wait_timeout"] = LONGEST_SILENCE
    if (zone := session_zone(context)) != UTC:
        variables["time_zone"] = zone
    variables |= parse_values(options.session, SESSION_VARIABLES, "The session variable", "session")
    if not options.unique_checks:
        variables["unique_checks"] = 0
    if not options.foreign_key_checks:
        variables["foreign_key_checks"] = 0
    if options.isolation:
        variables[ISOLATION] = options.isolation
    return variables


def check_session(context: PlanningContext) -> None:
    """Raise Problem for session settings that would lose rows, or break a promise, on this server."""
    options, server = context.options, context.server
    require_flavour(options.session, SESSION_VARIABLES, server, "session")
    if server.mariadb and not (options.unique_checks or options.foreign_key_checks):
        # server-behaviour.md, LOAD DATA LOCAL: with both off, one duplicate took 50 loaded rows and the ledger row with
        # it.
        raise Problem(
            "With unique_checks and foreign_key_checks both off, MariaDB loses rows of an empty table in silence.",
            advice="Leave one of them on.",
            option="unique_checks",
        )
    blind = "" if options.unique_checks else _blind_keys(context)
    if blind and (options.on_clash != "fail" or options.mode in CHANGING):
        raise Problem(
            f"With unique_checks off the server does not see every duplicate in {blind}: it would store both rows"
            " where one is to be skipped, replaced or changed.",
            advice="Leave unique_checks on, or let duplicates fail in mode append.",
            option="unique_checks",
        )
    if options.session.get("sql_log_bin") == "0":
        _check_unlogged(context)
    if options.lock_table:
        _check_lock(context)


def _check_unlogged(context: PlanningContext) -> None:
    if context.server.cluster:
        raise TargetProblem(
            "In a Galera cluster every node must get the rows.", advice="Leave sql_log_bin out.", option="session"
        )
    if context.options.mode in SWAPPING:
        raise Problem(
            "With sql_log_bin = 0 the replicas would put an empty table in the place of theirs.",
            advice="Leave sql_log_bin out, or choose mode append.",
            option="session",
        )


def _check_lock(context: PlanningContext) -> None:
    table, dependencies = context.table, context.dependencies
    if context.stages:
        raise Problem(
            "A lock would guard the staging table, which nobody else uses.",
            advice="Leave lock_table out, or choose mode append.",
            option="lock_table",
        )
    if (context.options.parallelism or 1) > 1:
        raise Problem(
            "Only one session can hold the table's lock.",
            advice="Leave parallelism out, or lock_table.",
            option="parallelism",
        )
    more = (*dependencies.foreign_keys, *dependencies.referenced_by, *dependencies.triggers, *table.triggers)
    if more:
        raise TargetProblem(
            f"{table.name} has foreign keys or triggers ({', '.join(dict.fromkeys(more))}), which use other tables;"
            " a session that holds locks may use none but those that it has locked.",
            advice="Leave lock_table out.",
            option="lock_table",
        )


def session_reasons(context: PlanningContext) -> Iterator[Reason]:
    """One reason for each requested session setting: its effect, and what it gives up."""
    options = context.options
    if not options.unique_checks:
        yield Reason("unique_checks is off", _unique_checks(context), option="unique_checks")
    if not options.foreign_key_checks:
        yield Reason("foreign_key_checks is off", _foreign_key_checks(context), option="foreign_key_checks")
    if options.isolation:
        why = f"as requested; it {_LEVELS[options.isolation]}"
        yield Reason(f"Isolation level {options.isolation}", why, option="isolation")
    if options.lock_table:
        yield Reason(
            "The table is locked by each chunk",
            "as requested: nobody else uses it during that; the ledger is locked too, so that other imports on"
            " this target wait for each chunk",
            option="lock_table",
        )
    for name, value in sorted(options.session.items()):
        variable = SESSION_VARIABLES[name]
        gives_up = f"; gives up: {variable.gives_up}" if variable.gives_up else ""
        why = f"as requested: {variable.does}{gives_up}"
        yield Reason(f"{name} = {value} in each session", why, option="session")
    if context.server.mariadb and (context.stages or context.table.rows_estimate == 0) and options.unique_checks:
        yield Reason(
            "MariaDB's bulk load into an empty table is not used",
            "with both checks off it is fast, but one duplicate loses rows that the server has reported as loaded",
        )


def _unique_checks(context: PlanningContext) -> str:
    if not _secondary(context):
        return "changes nothing here: the table has no unique key but the primary, which is checked all the same"
    if not _blind_keys(context):
        return "changes nothing here: this server has no change buffer in use, so it checks every key all the same"
    key = _secondary(context)[0]
    names, table = ", ".join(map(quote_name, key.columns)), quote_name(context.table.name)
    return (
        f"spares reading index pages; gives up that a duplicate in {_blind_keys(context)} is found: both rows stay, and"
        f" the key is broken. Look afterwards: SELECT {names} FROM {table} IGNORE INDEX ({quote_name(key.name)})"
        f" GROUP BY {names} HAVING COUNT(*) > 1"
    )


def _foreign_key_checks(context: PlanningContext) -> str:
    if not context.dependencies.foreign_keys:
        return "changes nothing here: the table has no foreign key"
    keys = ", ".join(context.dependencies.foreign_keys)
    return f"gives up that a row without its parent ({keys}) is refused: it stays, and nothing checks it later"


def _secondary(context: PlanningContext) -> list[Key]:
    """The unique keys that are not the primary one."""
    return [key for key in context.table.keys if key.unique and key.name != "PRIMARY"]


def _blind_keys(context: PlanningContext) -> str:
    """The unique keys whose duplicates the change buffer hides from the server with unique_checks off; "" for none.

    Measured on both servers (server-behaviour.md, Session settings). Duplicates of pages in the buffer pool are found,
    others are not.
    """
    # MariaDB has no change buffer since 11.0; where MySQL does not show the variable, there may be one.
    buffering = context.server.variables.get("innodb_change_buffering", "none" if context.server.mariadb else "unknown")
    if buffering in ("none", "deletes", "purges"):
        return ""
    return ", ".join(key.name for key in _secondary(context))

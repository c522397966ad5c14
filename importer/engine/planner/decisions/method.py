"""Decides the method that loads the chunks: the fastest that the server allows, or the requested one."""

from importer.engine.errors import TargetProblem
from importer.engine.mysql.server_info import Server
from importer.engine.plan.methods import AUTO, FROM_FILE, METHODS, Method, best_allowed, how_to_allow_local
from importer.engine.plan.options import Options
from importer.engine.plan.plan import Reason
from importer.engine.planner.context import PlanningContext


def choose_method(context: PlanningContext) -> tuple[Method, Reason]:
    """The method and its reason. Raises Problem, with the remedy, if the requested method is not possible."""
    if context.options.method == AUTO and not context.server_file:
        method = best_allowed(context.server)
        return method, _automatic_reason(method, context.server)
    method = FROM_FILE if context.options.method == AUTO else METHODS[context.options.method]
    method.require(context.server)
    if method.from_file and not context.server_file:
        raise TargetProblem(
            "The server cannot read this file itself.", advice="Choose another method.", option="method"
        )
    return method, Reason(method.title, f"requested; {method.cost}", option="method")


def rows_per_statement(options: Options, method: Method) -> int | None:
    """The number of rows of an INSERT; None for the methods that send files."""
    return (options.rows_per_statement or method.rows) if method.inserts else None


def _automatic_reason(method: Method, server: Server) -> Reason:
    if server.takes_local:
        return Reason(method.title, method.cost, option="method")
    if server.careful:
        why = f"imports into {server.title} have not been tried, and INSERT is safe on every server; {method.cost}"
        return Reason(method.title, why, holds_back=method.slows, option="method")
    return Reason(
        method.title,
        f"the server refuses LOAD DATA LOCAL; {method.cost}. {how_to_allow_local(server)}",
        holds_back=method.slows,
        option="method",
    )

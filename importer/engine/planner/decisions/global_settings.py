"""What is set for the whole server while the import runs, where somebody has asked for it, and what that gives up."""

from collections.abc import Iterator
from dataclasses import replace

from importer.engine.mysql.global_variables import SERVER_VARIABLES
from importer.engine.mysql.server_info import Server
from importer.engine.mysql.variables import Value, parse_values, require_flavour
from importer.engine.plan.options import Options
from importer.engine.plan.plan import Reason
from importer.engine.planner.context import PlanningContext
from importer.engine.target.temporary_changes import TemporaryChanges


def requested_variables(options: Options) -> dict[str, Value]:
    """What was asked for, as SET takes it. Raises Problem for what may not be set."""
    return parse_values(options.server_variables, SERVER_VARIABLES, "The server variable", "server_variables")


def with_requested_variables(server: Server, options: Options) -> Server:
    """The server with what was asked for already set: that is what the plan is for."""
    require_flavour(options.server_variables, SERVER_VARIABLES, server, "server_variables")
    asked = {name: str(value) for name, value in requested_variables(options).items()}
    return replace(server, variables={**server.variables, **asked})


def add_global_variables(context: PlanningContext, arranged: TemporaryChanges | None) -> TemporaryChanges | None:
    """The arrangement with what is set for the server."""
    asked = requested_variables(context.options)
    if not asked:
        return arranged
    return replace(arranged or TemporaryChanges(context.table.schema, context.table.name), variables=asked)


def global_variable_reasons(context: PlanningContext) -> Iterator[Reason]:
    """Each variable with what it gives up."""
    for name, value in requested_variables(context.options).items():
        variable = SERVER_VARIABLES[name]
        yield Reason(
            f"{name} = {value} on the whole server",
            f"as asked, until the rows are in: {variable.does}; gives up: {variable.gives_up}. Then it is put back,"
            " also after a cancel or a crash, unless somebody has changed it meanwhile",
            option="server_variables",
        )

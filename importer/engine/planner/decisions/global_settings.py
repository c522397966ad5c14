"""Applies the requested global variables for the duration of the import, and explains what each gives up."""

from collections.abc import Iterator
from dataclasses import replace

from importer.engine.mysql.server_info import Server
from importer.engine.mysql.variables.global_variables import SERVER_VARIABLES
from importer.engine.mysql.variables.variable import Value, parse_values, require_flavour
from importer.engine.plan.options import Options
from importer.engine.plan.plan import Reason
from importer.engine.planner.context import PlanningContext
from importer.engine.target.temporary_changes import TemporaryChanges


def requested_variables(options: Options) -> dict[str, Value]:
    """The requested global variables with values for SET. Raises Problem for a variable that may not be set."""
    return parse_values(options.server_variables, SERVER_VARIABLES, "The server variable", "server_variables")


def with_requested_variables(server: Server, options: Options) -> Server:
    """The server as the import will find it: with the requested variables set."""
    require_flavour(options.server_variables, SERVER_VARIABLES, server, "server_variables")
    requested = {name: str(value) for name, value in requested_variables(options).items()}
    return replace(server, variables={**server.variables, **requested})


def add_global_variables(context: PlanningContext, changes: TemporaryChanges | None) -> TemporaryChanges | None:
    """The temporary changes with the requested global variables."""
    variables = requested_variables(context.options)
    if not variables:
        return changes
    return replace(changes or TemporaryChanges(context.table.schema, context.table.name), variables=variables)


def global_variable_reasons(context: PlanningContext) -> Iterator[Reason]:
    """One reason for each global variable: its effect, and what it gives up."""
    for name, value in requested_variables(context.options).items():
        variable = SERVER_VARIABLES[name]
        yield Reason(
            f"{name} = {value} on the whole server",
            f"as requested, until all rows are loaded: {variable.does}; gives up: {variable.gives_up}. Then it is"
            " restored, also after a cancel or a crash, unless somebody has changed it since",
            option="server_variables",
        )

"""What each method does: renders its statement, turns it into REPLACE, and runs it. Declared in plan/methods.py."""

from importlib import import_module
from typing import Any

from importer.engine.load.methods import Load
from importer.engine.load.methods.load_request import LoadRequest
from importer.engine.load.methods.statement_request import StatementRequest
from importer.engine.plan.methods import METHODS
from importer.engine.plan.plan import ImportPlan, LoadStatements
from importer.engine.source.dialect import Dialect

# The module of each method, which is imported at its first use: an import uses one or two. It has `statement(request)`,
# the SQL that the plan shows; `replacing(statement)`, the same for REPLACE; and `loader(request)`, the function that
# sends a feed with it.
MODULES = {
    "load_data_local": "load_data_local",
    "load_data_server": "load_data_server",
    "load_data_infile": "load_data_infile",
    "insert": "inserts.insert",
    "insert_prepared": "inserts.insert_prepared",
}
assert MODULES.keys() == METHODS.keys()


def _module(method: str) -> Any:
    return import_module(f"importer.engine.load.methods.{MODULES[method]}")


def statement(method: str, request: StatementRequest) -> str:
    """The method's statement for every chunk of a job."""
    return str(_module(method).statement(request))


def replacing(method: str, statement: str) -> str:
    """The same statement with REPLACE."""
    return str(_module(method).replacing(statement))


def for_name(method: str, request: LoadRequest) -> Load:
    """The function that runs the method's statements on the bytes of a feed."""
    load: Load = _module(method).loader(request)
    return load


def for_plan(plan: ImportPlan, dialect: Dialect) -> Load:
    """The function that runs the plan's statements on the bytes of a feed."""
    return _of_statements(plan, plan.statements.feeding, dialect)


def by_file(plan: ImportPlan, dialect: Dialect) -> Load | None:
    """The function that lets the server read the whole file itself; None where that is not planned."""
    return _of_statements(plan, plan.statements, dialect) if plan.statements.server_file else None


def _of_statements(plan: ImportPlan, statements: LoadStatements, dialect: Dialect) -> Load:
    width = len(plan.numbers) + len(plan.fields)
    request = LoadRequest(
        dialect, width, plan.numbers, statements.rows_per_statement, statements.pipe_folder, statements.server_file
    )
    return for_name(statements.method, request)

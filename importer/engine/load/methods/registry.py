"""What each method does: renders its statement, turns it into REPLACE, and runs it. Declared in plan/methods.py."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from importer.engine.load.methods import Load, Report, load_data_infile, load_data_local, load_data_server
from importer.engine.load.methods.inserts import insert, insert_prepared, insert_sql
from importer.engine.load.methods.load_data import replacing_from_file
from importer.engine.load.methods.load_request import LoadRequest
from importer.engine.load.methods.statement_request import StatementRequest
from importer.engine.plan.methods import METHODS
from importer.engine.plan.plan import ImportPlan, LoadStatements
from importer.engine.source.dialect import Dialect


@dataclass(frozen=True)
class Implementation:
    """The functions of a method.

    `render(request)` gives the SQL that the plan shows, `replacing(statement)` the same for REPLACE, and
    `loader(request)` the function that sends a feed with it.
    """

    render: Callable[[StatementRequest], str]
    replacing: Callable[[str], str]
    loader: Callable[[LoadRequest], Load]


def _inserting(load: Callable[..., Report]) -> Implementation:
    return Implementation(insert_sql.statement, insert_sql.replacing, lambda request: partial(load, request=request))


def _reading(request: LoadRequest) -> Load:
    assert request.file
    return partial(load_data_infile.load, file=request.file)


IMPLEMENTATIONS: dict[str, Implementation] = {
    "load_data_local": Implementation(
        load_data_local.statement, load_data_local.replacing, lambda _request: load_data_local.load
    ),
    "load_data_server": Implementation(
        load_data_server.statement,
        replacing_from_file,
        lambda request: partial(load_data_server.load, folder=request.folder),
    ),
    "load_data_infile": Implementation(load_data_infile.statement, replacing_from_file, _reading),
    "insert": _inserting(insert.load),
    "insert_prepared": _inserting(insert_prepared.load),
    "insert_single": _inserting(insert.load),
}
assert IMPLEMENTATIONS.keys() == METHODS.keys()


def statement(method: str, request: StatementRequest) -> str:
    """The method's statement for every chunk of a job."""
    return IMPLEMENTATIONS[method].render(request)


def replacing(method: str, statement: str) -> str:
    """The same statement with REPLACE."""
    return IMPLEMENTATIONS[method].replacing(statement)


def for_name(method: str, request: LoadRequest) -> Load:
    """The function that runs the method's statements on the bytes of a feed."""
    return IMPLEMENTATIONS[method].loader(request)


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

"""Which method loads the chunks: the fastest that the server allows, or the one that was asked for."""

from importer.engine.methods import choice, insert
from importer.engine.plan import Reason
from importer.engine.planner.case import Case


def choose_method(case: Case) -> tuple[str, Reason]:
    """The method's name (options.OFFERED), and why it is that one."""
    if case.options.method not in ("auto", "load_data_local"):
        return case.options.method, Reason(case.options.method, "asked for", option="method")
    return "load_data_local", Reason(
        "LOAD DATA LOCAL", "the server allows it, and nothing else is as fast", option="method"
    )


def rows_per_statement(case: Case, method: str) -> int | None:
    """How many rows an INSERT has; None for the methods that load files."""
    return case.options.rows_per_statement or insert.ROWS if method in choice.INSERTING else None

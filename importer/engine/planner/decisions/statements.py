"""The statements that load a chunk."""

from collections.abc import Iterator, Sequence
from typing import Any

from importer.engine.load.methods import registry
from importer.engine.load.methods.field_expressions import numbers
from importer.engine.load.methods.rendering import StatementRequest
from importer.engine.mapping.columns import ColumnMapping
from importer.engine.plan.methods import Method
from importer.engine.plan.plan import Reason
from importer.engine.planner.context import PlanningContext
from importer.engine.planner.reasons.binary_charset import needs_ascii, plan_unhexed, takes_bytes
from importer.engine.target.staging import NUMBERING


def statements(case: PlanningContext, method: Method) -> dict[str, Any]:
    """Those of ImportPlan, by the names they have there."""
    options, dialect, into = case.options, case.dialect, case.loaded_into
    also = NUMBERING if case.numbers_rows else ()

    def statement(mapping: Sequence[ColumnMapping] = case.mapping, **variant: bool) -> str:
        request = StatementRequest(into, dialect, mapping, case.fillings, also, case.server.shared_folder, **variant)
        return registry.statement(method.name, request)

    # Where records are rewritten, the text NULL goes out in quotes.
    null_word = bool(dialect.quote and not dialect.escape and not dialect.rewriting)
    as_bytes = takes_bytes(case, method)
    replaces = options.ordered and options.on_duplicate == "replace"

    def as_asked(statement: str) -> str:
        return registry.replacing(method.name, statement) if statement and replaces else statement

    return {
        "statement": as_asked(statement()),
        "null_word_statement": as_asked(statement(keep_null_word=True) if null_word else ""),
        "traced_statement": statement(keep_null_word=null_word, traced=True),
        "bytes_statement": as_asked(statement(as_bytes=True) if as_bytes else ""),
        "bytes_ascii_only": as_bytes and needs_ascii(case, method, case.mapping),
        "unhexed": plan_unhexed(case, method, lambda mapping: as_asked(statement(mapping, as_bytes=True))),
    }


def numbering_reasons(case: PlanningContext) -> Iterator[Reason]:
    """What is put before each record, where a column asks for it."""
    names = {"row": "record", "line": "line"}
    if said := " and ".join(names[each] for each in numbers(case.fillings)):
        yield Reason(
            f"The {said} number is put before each record",
            "a column asks for it; that takes about half a microsecond a row",
            holds_back=True,
        )

"""The statements that load a chunk."""

from collections.abc import Iterator

from importer.engine.methods import choice
from importer.engine.methods.readings import numbers
from importer.engine.plan import Reason
from importer.engine.planner.as_bytes import takes_bytes
from importer.engine.planner.case import Case
from importer.engine.staging import NUMBERING


def statements(case: Case, method: str) -> dict[str, str]:
    """Those of ImportPlan, by the names they have there."""
    options, dialect, into = case.options, case.dialect, case.loaded_into
    also = NUMBERING if case.numbers_rows else ()

    def statement(**how: bool) -> str:
        return choice.statement(
            method, into, dialect, case.mapping, case.fillings, also=also, folder=case.server.shared_folder, **how
        )

    # Where records are rewritten, the text NULL goes out in quotes.
    null_word = bool(dialect.quote and not dialect.escape and not dialect.rewriting)
    plain, other = statement(), statement(keep_null_word=True) if null_word else ""
    replaces = options.ordered and options.on_duplicate == "replace"
    if replaces:
        plain, other = choice.replacing(method, plain), other and choice.replacing(method, other)
    traced = statement(keep_null_word=null_word, traced=True)
    as_bytes = statement(as_bytes=True) if takes_bytes(case, method) else ""
    return {
        "statement": plain,
        "null_word_statement": other,
        "traced_statement": traced,
        "bytes_statement": choice.replacing(method, as_bytes) if as_bytes and replaces else as_bytes,
    }


def numbering_reasons(case: Case) -> Iterator[Reason]:
    """What is put before each record, where a column asks for it."""
    names = {"row": "record", "line": "line"}
    if said := " and ".join(names[each] for each in numbers(case.fillings)):
        yield Reason(
            f"The {said} number is put before each record",
            "a column asks for it; that takes about half a microsecond a row",
            holds_back=True,
        )

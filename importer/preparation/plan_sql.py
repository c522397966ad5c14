"""The exact SQL of a plan, by when it runs: for the command line and the pages."""

from collections.abc import Iterator
from typing import Any

from importer.engine import stored
from importer.engine.schema import indexes
from importer.engine.target.staging import Staged
from importer.engine.target.temporary_changes import TemporaryChanges


def plan_sql(plan: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """When, and the statements that run then, each with its semicolon.

    The plan is as JSON: that of an old import may lack what plans have now.
    """
    arranged = stored.from_json(TemporaryChanges, plan["arrangement"]) if plan.get("arrangement") else None
    staged = stored.from_json(Staged, plan["staged"]) if plan.get("staged") else None
    if staged:
        yield "Before the first chunk, the staging table is made", _written(*staged.make)
    if arranged:
        yield "Before the first chunk, and written down before that", _written(*_arranging(arranged))
    alone = "Each chunk, in a transaction of its own"
    when = "Each chunk, small ones together in one transaction" if plan.get("transaction_bytes") else alone
    yield when, _written(plan["statement"])
    if plan.get("bytes_statement"):
        which = "of ASCII alone " if plan.get("bytes_ascii_only") else ""
        why = f"The same for chunks {which}in which every value goes in as it is, quicker"
        yield why, _written(plan["bytes_statement"])
    if plan.get("unhexed"):
        why = "The same for chunks in which every value goes in as it is, hexadecimal digits as bytes, quicker"
        yield why, _written(plan["unhexed"]["statement"])
    if staged:
        keys = f"; before that, the staging table gets {', '.join(staged.later)}" if staged.later else ""
        yield f"After the last chunk{keys}", _written(*staged.settle, staged.finish)
    if arranged and arranged.alters_table:
        yield "After the load, or whatever else ends the import", _written(*arranged.restore_sql)


def _arranging(arranged: TemporaryChanges) -> Iterator[str]:
    if arranged.alters_table:
        yield indexes.drop_statement(arranged.schema, arranged.table, arranged.keys, arranged.foreign_keys)
    for name, value in arranged.variables.items():
        yield f"SET GLOBAL {name} = {value}"


def _written(*statements: str) -> str:
    return "\n".join(f"{each.rstrip().rstrip(';')};" for each in statements)

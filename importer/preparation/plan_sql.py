"""The exact SQL of a plan, in the order of execution, for the command line and the pages."""

from collections.abc import Iterator

from importer.engine.plan.plan import ImportPlan
from importer.engine.schema import indexes
from importer.engine.schema.added_columns import add_statement
from importer.engine.target.temporary_changes import TemporaryChanges


def plan_sql(plan: ImportPlan) -> Iterator[tuple[str, str]]:
    """Pairs of a moment of the import, in words, and the statements that run then, each with its semicolon."""
    staged, changes, statements = plan.staged, plan.temporary_changes, plan.statements
    if plan.added_columns:
        when = "Before the first chunk. The columns stay, also if the import fails or is cancelled"
        yield when, _script(add_statement(plan.schema, plan.final_table, plan.added_columns))
    if staged:
        yield "Before the first chunk: create the staging table", _script(*staged.make)
    if changes:
        yield "Before the first chunk, recorded before they are made", _script(*_change_statements(changes))
    transaction = "small ones together in one transaction" if plan.transaction_bytes else "in a transaction of its own"
    itself = "The whole file, which the server reads itself, in one transaction" if statements.server_file else ""
    yield itself or f"Each chunk, {transaction}", _script(statements.plain)
    if statements.no_markers:
        when = "A faster statement for chunks in which no number or time is missing and every value is sent unchanged"
        yield when, _script(statements.no_markers)
    if statements.as_bytes:
        which = "of ASCII alone " if statements.as_bytes_ascii_only else ""
        when = f"A faster statement for chunks {which}in which every value is sent unchanged"
        yield when, _script(statements.as_bytes)
    if statements.unhexed:
        when = "A faster statement for chunks in which every value is sent unchanged, hexadecimal digits as bytes"
        yield when, _script(statements.unhexed.statement)
    if statements.fed:
        yield "If rows are left out: the others are sent", _script(statements.fed.plain)
    if staged:
        keys = f"; before that, the staging table gets {', '.join(staged.later)}" if staged.later else ""
        yield f"After the last chunk{keys}", _script(*staged.settle, staged.finish)
    if changes and changes.alters_table:
        yield "After the load, also if the import fails or is cancelled", _script(*changes.restore_sql)


def _change_statements(changes: TemporaryChanges) -> Iterator[str]:
    if changes.alters_table:
        yield indexes.drop_statement(changes.schema, changes.table, changes.keys, changes.foreign_keys)
    for name, value in changes.variables.items():
        yield f"SET GLOBAL {name} = {value}"


def _script(*statements: str) -> str:
    return "\n".join(f"{each.rstrip().rstrip(';')};" for each in statements)

"""Renders the statements that load a chunk."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from importer.engine.load.methods import registry
from importer.engine.load.methods.field_expressions import numbers
from importer.engine.load.methods.statement_request import StatementRequest
from importer.engine.mapping.columns import ColumnMapping
from importer.engine.mapping.expressions import without_markers
from importer.engine.plan.methods import Method, best_allowed
from importer.engine.plan.plan import LoadStatements, Reason
from importer.engine.planner.context import PlanningContext
from importer.engine.planner.decisions.method import rows_per_statement
from importer.engine.planner.reasons.binary_charset import needs_ascii, plan_unhexed, takes_bytes
from importer.engine.source.encodings import EncodingKind
from importer.engine.target.staging import NUMBERING


def with_fitting_lookups(context: PlanningContext, method: Method) -> PlanningContext:
    """The context whose lookups have no more variables than fit into each row of the method's statements."""
    if not (method.inserts and any(each.lookup for each in context.mapping)):
        return context
    from importer.engine.mapping.lookups import AT_MOST_BY_ROW

    return replace(
        context,
        mapping=tuple(
            replace(each, lookup=replace(each.lookup, buckets=min(each.lookup.buckets, AT_MOST_BY_ROW)))
            if each.lookup
            else each
            for each in context.mapping
        ),
    )


def with_raw_fields(context: PlanningContext) -> PlanningContext:
    """The context, whose dialect has the raw fields.

    A column of bytes takes those of the file. In UTF-8 they are sent as they are, unless some are not valid there.
    """
    dialect = context.dialect
    kind = dialect.encoding_kind
    if kind is EncodingKind.OTHER or (kind is EncodingKind.UTF8 and not dialect.odd_bytes):
        return context
    raw = tuple(number for number, each in enumerate(context.mapping) if _is_raw(each, context))
    return replace(context, dialect=replace(dialect, raw_fields=raw))


def _is_raw(mapping: ColumnMapping, context: PlanningContext) -> bool:
    column = context.table.column(mapping.column) if mapping.column else None
    return (
        column is not None
        and column.column_type.takes_hex
        and not (mapping.transforms or mapping.values or mapping.lookup)
    )


def load_statements(context: PlanningContext, method: Method) -> LoadStatements:
    """The statements of the method for the table that the chunks load into."""
    statements = _statements(context, method)
    if not method.from_file:
        return statements
    fed = replace(_statements(context, best_allowed(context.server)), unhexed=None)
    return replace(statements, traced=fed.traced, unhexed=None, server_file=context.server_file, fed=fed)


def _statements(context: PlanningContext, method: Method) -> LoadStatements:
    context = replace(context, mapping=_as_sent(context))
    options, dialect, into = context.options, context.dialect, context.loaded_into
    numbering = NUMBERING if context.numbers_rows else ()
    folder, file = context.server.shared_folder, context.server_file if method.from_file else None

    def statement(mapping: Sequence[ColumnMapping] = context.mapping, **variant: bool) -> str:
        assigns = context.stored_behind_triggers
        request = StatementRequest(
            into, dialect, mapping, context.staged_fillings, numbering, folder, file, assigns, **variant
        )
        return registry.statement(method.name, request)

    # Where records are rewritten, the text NULL goes out in quotes.
    null_word = bool(dialect.quote and not dialect.escape and not dialect.rewriting)
    unmarked = _without_markers(context)
    as_bytes = takes_bytes(context, method, unmarked)
    replaces = options.ordered and options.on_clash == "replace"

    def with_replace(statement: str) -> str:
        return registry.replacing(method.name, statement) if statement and replaces else statement

    return LoadStatements(
        method.name,
        plain=with_replace(statement()),
        null_word=with_replace(statement(keep_null_word=True) if null_word else ""),
        traced=statement(keep_null_word=null_word, traced=True),
        no_markers=with_replace(statement(unmarked) if unmarked != list(context.mapping) else ""),
        as_bytes=with_replace(statement(unmarked, as_bytes=True) if as_bytes else ""),
        as_bytes_ascii_only=as_bytes and needs_ascii(context, method, unmarked),
        unhexed=plan_unhexed(context, method, unmarked, lambda given: with_replace(statement(given, as_bytes=True))),
        rows_per_statement=rows_per_statement(options, method),
        pipe_folder=context.server.shared_folder if method.from_pipe else "",
    )


def _as_sent(context: PlanningContext) -> list[ColumnMapping]:
    """The mapping for the records that are sent: raw fields are hexadecimal digits there, and so are their markers."""
    raw, encoding = context.dialect.raw_fields, context.dialect.encoding
    return [_digits(each, encoding) if number in raw else each for number, each in enumerate(context.mapping)]


def _digits(mapping: ColumnMapping, encoding: str) -> ColumnMapping:
    markers = tuple(each.encode(encoding, "replace").hex() for each in mapping.null_markers)
    return replace(mapping, null_markers=markers, transforms=("hex",))


def _without_markers(context: PlanningContext) -> list[ColumnMapping]:
    """The mapping for chunks in which the scan found no NULL marker."""
    types = {column.name.lower(): column.column_type for column in context.table.columns}
    return [without_markers(each, types[each.column.lower()]) if each.column else each for each in context.mapping]


def statement_reasons(context: PlanningContext, method: Method) -> Iterator[Reason]:
    """Explains what the statements have on account of the table's triggers and of columns filled with numbers."""
    yield from _trigger_reasons(context, method)
    yield from _numbering_reasons(context)


def _trigger_reasons(context: PlanningContext, method: Method) -> Iterator[Reason]:
    """Warns of stored generated columns that a LOAD DATA of MariaDB would leave stale."""
    if not context.stored_behind_triggers or method.inserts:
        return
    columns, triggers = ", ".join(context.table.stored_behind_triggers), ", ".join(context.table.triggers)
    yield Reason(
        f"A field goes through a variable, because of the stored generated column {columns}",
        f"MariaDB {context.server.version} may compute it before the trigger ({triggers}) changes a column that it is"
        " computed from, and store a wrong value (MDEV-40480, fixed in 11.8.9); with a SET it computes it afterwards."
        " Rows that others have loaded into this table by LOAD DATA may be wrong",
        holds_back=True,
    )


def _numbering_reasons(context: PlanningContext) -> Iterator[Reason]:
    """Explains the numbers that are put before each record, if a column is filled with them."""
    names = {"row": "record", "line": "line"}
    if which := " and ".join(names[each] for each in numbers(context.staged_fillings)):
        yield Reason(
            f"The {which} number is put before each record",
            "a column asks for it; that takes about half a microsecond a row",
            holds_back=True,
        )

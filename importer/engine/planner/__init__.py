"""Plans an import: decides method, statements, chunks and settings from the context, with a reason for each choice.

`preconditions` refuse imports that no setting can make safe. `decisions/` has one module for each decision, `reasons/`
one for each subject that the plan only explains. `initial_conditions` records table and server as they were before the
load. All of them read one PlanningContext.
"""

from dataclasses import replace

from importer.engine.mapping.columns import NewParents, check_given, check_mapping
from importer.engine.mapping.expressions import expression
from importer.engine.mysql.connection import UTC
from importer.engine.plan.methods import Method
from importer.engine.plan.option_specs import CREATE
from importer.engine.plan.options import check_options
from importer.engine.plan.plan import ImportPlan, Reason
from importer.engine.planner.context import PlanningContext
from importer.engine.planner.decisions.chunks import (
    chunk_rows,
    chunk_sizes,
    chunks_reason,
    is_one_chunk,
    transaction_bytes,
)
from importer.engine.planner.decisions.global_settings import (
    add_global_variables,
    global_variable_reasons,
    with_requested_variables,
)
from importer.engine.planner.decisions.index_deferral import (
    check_foreign_keys,
    index_deferral,
    index_reasons,
    keys_deferred_in_staging,
)
from importer.engine.planner.decisions.load_statements import (
    load_statements,
    statement_reasons,
    with_fitting_lookups,
    with_raw_fields,
)
from importer.engine.planner.decisions.method import choose_method
from importer.engine.planner.decisions.parallelism import choose_parallelism, of_chunks
from importer.engine.planner.decisions.readback import choose_readback
from importer.engine.planner.decisions.row_order import choose_order
from importer.engine.planner.decisions.server_file import check_server_file, server_file_reasons
from importer.engine.planner.decisions.session_settings import check_session, session, session_reasons
from importer.engine.planner.decisions.staging_engine import check_staging_engine, staging_engine_reasons
from importer.engine.planner.decisions.time_zone import session_zone, time_zone_reasons
from importer.engine.planner.decisions.unchanged_rows import left_out_by, unchanged_row_reasons, updates_per_row
from importer.engine.planner.initial_conditions import initial_conditions
from importer.engine.planner.preconditions import check_allowed, check_server, check_table
from importer.engine.planner.reasons.auto_increment import auto_increment_reasons
from importer.engine.planner.reasons.binary_charset import binary_charset_reasons
from importer.engine.planner.reasons.bottlenecks import bottleneck_reasons
from importer.engine.planner.reasons.file_format import file_format_reasons
from importer.engine.planner.reasons.replication import replication_reasons
from importer.engine.planner.reasons.table_and_rejects import table_and_reject_reasons
from importer.engine.planner.reasons.verification import verification_reasons
from importer.engine.schema.table import Column
from importer.engine.target import write_modes
from importer.engine.target.staging import Staged, StagingTable, kept_by, plan_staging
from importer.engine.validation import ValidationRules

__all__ = ["PlanningContext", "make_plan"]


def make_plan(context: PlanningContext) -> ImportPlan:
    """The plan for the context's file and table. Raises Problem, with advice, if the import is not possible."""
    context = _checked(with_raw_fields(_as_loaded(context)))
    staged = _staged(context)
    context, method, method_reason = _with_method(context)
    at_once, parallelism_reason = choose_parallelism(context)
    sizes, together = chunk_sizes(context, at_once), transaction_bytes(context, at_once)
    (order, order_reason), statements = choose_order(context), load_statements(context, method)
    readback, left_out = choose_readback(context), left_out_by(context, staged)
    return ImportPlan(
        statements=statements,
        schema=context.table.schema,
        table=context.loaded_into.name,
        chunk_bytes=sizes.bytes,
        chunk_rows=sizes.rows,
        first_chunk_bytes=sizes.first_bytes or 0,
        last_chunks=sizes.last_chunks,
        transaction_bytes=together,
        parallelism=at_once,
        table_digest="" if staged else context.table.digest,
        fields=tuple(each.column for each in context.mapping),
        raw_fields=context.dialect.raw_fields,
        reasons=(
            method_reason,
            *server_file_reasons(context),
            *file_format_reasons(context),
            *binary_charset_reasons(statements),
            order_reason,
            of_chunks(parallelism_reason, alone=at_once > 1 and is_one_chunk(context, sizes)),
            chunks_reason(context, sizes, together),
            *session_reasons(context),
            *time_zone_reasons(context),
            *global_variable_reasons(context),
            *index_reasons(context),
            *table_and_reject_reasons(context),
            *verification_reasons(readback, context.dialect.plain),
            *unchanged_row_reasons(context, left_out),
            *bottleneck_reasons(context),
            *replication_reasons(context, max(sizes.bytes, together)),
            *statement_reasons(context, method),
            *auto_increment_reasons(context, sizes, chunk_rows(context)),
            *staging_engine_reasons(context),
        ),
        exactness=_exactness(context),
        readback=readback,
        left_out_by=left_out,
        ordered=context.options.ordered or not context.rolls_back,
        updates_per_row=updates_per_row(context),
        rolls_back=context.rolls_back,
        sorted_by=order,
        session=session(context),
        lock_table=context.options.lock_table,
        staged=staged,
        temporary_changes=add_global_variables(context, index_deferral(context)),
        sources=tuple(sorted({each.source for each in context.staged_fillings} - {"text"})),
        lookups=tuple(dict.fromkeys(each.lookup for each in context.mapping if each.column and each.lookup)),
        new_parents=_new_parents(context),
        seen=initial_conditions(context),
        server=context.server.identity,
    )


def _as_loaded(context: PlanningContext) -> PlanningContext:
    """The context with the server's variables during the load."""
    return replace(context, server=with_requested_variables(context.server, context.options))


def _with_method(context: PlanningContext) -> tuple[PlanningContext, Method, Reason]:
    method, reason = choose_method(context)
    return with_fitting_lookups(context, method), method, reason


def _checked(context: PlanningContext) -> PlanningContext:
    """The context. Raises Problem, with advice, if the import is not possible."""
    options = context.options
    check_options(options)
    check_server(context.server)
    check_allowed(options, context.server)
    check_table(context.table, options.mode)
    (check_given if options.mode in write_modes.KEEPING else check_mapping)(
        context.mapping, context.table, context.fillings
    )
    write_modes.check_mode(
        options.mode, options.on_clash, context.table, context.dependencies, context.columns, options.key
    )
    check_session(context)
    check_staging_engine(context)
    check_foreign_keys(context)
    check_server_file(context)
    return context


def _staged(context: PlanningContext) -> Staged | None:
    if not context.stages:
        return None
    options, repeats = context.options, context.options.refuses_repeats
    if write_modes.compares(options.mode, keeps=options.undo == "keep"):
        from importer.engine.target.comparison import Asked, plan_comparison

        asked = Asked(
            *(options.key, options.scope, options.missing, options.guards, options.preview),
            undo=options.undo,
            refuses_repeats=repeats,
        )
        return plan_comparison(context.job, options.mode, context.table, context.dependencies, context.columns, asked)
    staged = plan_staging(
        context.job,
        options.mode,
        options.on_clash,
        context.table,
        context.dependencies,
        context.columns,
        StagingTable(context.create, keys_deferred_in_staging(context), context.number_or_null, repeats),
    )
    if options.undo == "none":
        return staged
    key = write_modes.kept_key(context.table, context.columns)
    kept = kept_by(context.job, context.table, options.undo)
    return replace(staged, keys=(key.columns,), columns=tuple(context.columns), **kept)


def _new_parents(context: PlanningContext) -> tuple[NewParents, ...]:
    """The fields whose missing names are created, with SQL for the name: cleaned, and by the value list."""
    if context.options.lookup_missing != CREATE:
        return ()
    text = Column("", "text", nullable=True, default=None, auto_increment=False, generated=False)
    return tuple(
        NewParents(number, each.column, expression("raw.text", replace(each, lookup=None), text), each.lookup)
        for number, each in enumerate(context.mapping)
        if each.column and each.lookup
    )


def _exactness(context: PlanningContext) -> ValidationRules:
    return ValidationRules.of(
        context.dialect.plain,
        context.mapping,
        context.table,
        mariadb=context.server.mariadb,
        rounding=context.options.rounding,
        utc=session_zone(context) == UTC,
    )

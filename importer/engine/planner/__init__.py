"""From a file, a table, a server and what was asked for to a plan, with the reason for each choice.

One file for each decision: method, statements, parallelism (network), chunks, order, sessions, index_policy; `refusals`
forbid, the others explain: reading, as_bytes, keeping, holding, replication, auto_increment. `seen` keeps what it was
like before. All of them look at the same Case.
"""

from dataclasses import replace

from importer.engine.errors import Problem
from importer.engine.mapping.columns import check_mapping
from importer.engine.plan.options import check_options
from importer.engine.plan.plan import ImportPlan
from importer.engine.plan.readback import Readback
from importer.engine.planner.context import PlanningContext
from importer.engine.planner.decisions.chunks import FIRST_CHUNK, chunk_sizes, chunks_reason, transaction_bytes
from importer.engine.planner.decisions.global_settings import as_it_will_be, server_reasons, with_variables
from importer.engine.planner.decisions.index_deferral import (
    arrangement,
    check_foreign_keys,
    index_reasons,
    staged_without,
)
from importer.engine.planner.decisions.method import choose_method, rows_per_statement, with_commits_of
from importer.engine.planner.decisions.parallelism import choose_parallelism
from importer.engine.planner.decisions.row_order import choose_order
from importer.engine.planner.decisions.session_settings import check_session, session, session_reasons
from importer.engine.planner.decisions.staging_engine import check_load_as, load_as_reasons
from importer.engine.planner.decisions.statements import numbering_reasons, statements
from importer.engine.planner.initial_conditions import initial_conditions
from importer.engine.planner.preconditions import check_server, check_table
from importer.engine.planner.reasons.auto_increment import auto_increment_reasons
from importer.engine.planner.reasons.binary_charset import as_bytes_reasons
from importer.engine.planner.reasons.bottlenecks import holding_reasons
from importer.engine.planner.reasons.file_format import reading_reasons
from importer.engine.planner.reasons.replication import replication_reasons
from importer.engine.planner.reasons.table_and_rejects import keeping_reasons
from importer.engine.target import write_modes
from importer.engine.target.staging import Staged, StagingTable, plan_staging
from importer.engine.validation import ValidationRules

__all__ = ["Case", "make_plan"]


def make_plan(case: PlanningContext) -> ImportPlan:
    """Decide how the file of the case goes into its table. Raises Problem with the first thing that forbids it."""
    check_options(case.options)
    case = _as_it_will_load(case)
    _check(case)
    staged = _staged(case)
    method, method_reason = choose_method(case)
    at_once, parallelism_reason = choose_parallelism(case)
    sizes = chunk_sizes(case, at_once)
    together = transaction_bytes(case, at_once)
    order, order_reason = choose_order(case)
    sql = statements(case, method)
    return ImportPlan(
        method=method.name,
        schema=case.table.schema,
        table=case.loaded_into.name,
        **sql,
        chunk_bytes=sizes.bytes,
        chunk_rows=sizes.rows,
        first_chunk_bytes=FIRST_CHUNK,
        last_chunks=sizes.last_chunks,
        transaction_bytes=together,
        parallelism=at_once,
        table_digest="" if staged else case.table.digest,
        fields=tuple(each.column for each in case.mapping),
        reasons=(
            method_reason,
            *reading_reasons(case),
            *as_bytes_reasons(sql["bytes_statement"], sql["bytes_ascii_only"], sql["unhexed"]),
            order_reason,
            parallelism_reason,
            chunks_reason(case, sizes, together),
            *session_reasons(case),
            *server_reasons(case),
            *index_reasons(case),
            *keeping_reasons(case),
            *holding_reasons(case),
            *replication_reasons(case, max(sizes.bytes, together)),
            *numbering_reasons(case),
            *auto_increment_reasons(case, sizes),
            *load_as_reasons(case),
        ),
        exactness=_exactness(case),
        readback=_readback(case),
        ordered=case.options.ordered or not case.rolls_back,
        rolls_back=case.rolls_back,
        sorted_by=order,
        session=session(case),
        lock_table=case.options.lock_table,
        staged=staged,
        arrangement=with_variables(case, arrangement(case)),
        rows_per_statement=rows_per_statement(case.options, method),
        files_folder=case.server.shared_folder if method.from_pipe else "",
        sources=tuple(sorted({each.source for each in case.fillings} - {"text"})),
        seen=initial_conditions(case),
    )


def _as_it_will_load(case: PlanningContext) -> PlanningContext:
    """With the server as it is meanwhile, and what single INSERTs with autocommit come to."""
    options = with_commits_of(case.options)
    return replace(case, options=options, server=as_it_will_be(case.server, options))


def _check(case: PlanningContext) -> None:
    """Raise Problem with the first thing that forbids it."""
    options = case.options
    check_server(case.server)
    check_table(case.table, options.mode)
    check_mapping(case.mapping, case.table, case.fillings)
    write_modes.check_mode(options.mode, options.on_duplicate, case.table, case.around, case.columns)
    check_session(case)
    check_load_as(case)
    check_foreign_keys(case)


def _staged(case: PlanningContext) -> Staged | None:
    if not case.staged:
        return None
    options = case.options
    return plan_staging(
        case.job,
        options.mode,
        options.on_duplicate,
        case.table,
        case.around,
        case.columns,
        StagingTable(case.create, case.staging_engine, staged_without(case)),
    )


def _exactness(case: PlanningContext) -> ValidationRules | None:
    if not case.options.checks:
        return None
    return ValidationRules.of(
        case.dialect.plain, case.mapping, case.table, mariadb=case.server.mariadb, rounding=case.options.rounding
    )


def _readback(case: PlanningContext) -> Readback | None:
    options = case.options
    if options.verify != "full":
        return None
    if options.on_duplicate != "fail" or case.numbers_rows:
        raise Problem(
            "Rows that skip, replace or change one another cannot be compared with the file one by one.",
            advice="Verify by counts, or let duplicates fail in mode append, atomic or replace.",
        )
    return Readback.of(case.loaded_into, case.mapping, options.rounding)

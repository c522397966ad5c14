"""From a file, a table, a server and what was asked for to a plan, with the reason for each choice.

One file for each decision: method, statements, parallelism (network), chunks, order, sessions, index_policy; `refusals`
forbid, the others explain: reading, as_bytes, keeping, holding, replication, auto_increment. `seen` keeps what it was
like before. All of them look at the same Case.
"""

from collections.abc import Sequence
from dataclasses import replace

from importer.engine import modes
from importer.engine.dialect import Dialect
from importer.engine.distance import Distance
from importer.engine.errors import Problem
from importer.engine.exactness import Exactness
from importer.engine.indexes import NO_INDEXES, Indexes
from importer.engine.mapping import ColumnMapping, Filling, check_mapping
from importer.engine.options import Options, check_options
from importer.engine.past import NO_PAST, Past
from importer.engine.plan import ImportPlan
from importer.engine.planner.as_bytes import as_bytes_reasons
from importer.engine.planner.auto_increment import auto_increment_reasons
from importer.engine.planner.case import Case
from importer.engine.planner.chunks import FIRST_CHUNK, chunk_bytes, chunk_rows, chunks_reason, last_chunks
from importer.engine.planner.holding import holding_reasons
from importer.engine.planner.index_policy import arrangement, check_foreign_keys, index_reasons, staged_without
from importer.engine.planner.keeping import keeping_reasons
from importer.engine.planner.load_as import check_load_as, load_as_reasons
from importer.engine.planner.method import choose_method, rows_per_statement
from importer.engine.planner.order import choose_order
from importer.engine.planner.parallelism import choose_parallelism
from importer.engine.planner.reading import reading_reasons
from importer.engine.planner.refusals import check_server, check_table
from importer.engine.planner.replication import replication_reasons
from importer.engine.planner.seen import seen
from importer.engine.planner.server_settings import as_it_will_be, server_reasons, with_variables
from importer.engine.planner.sessions import check_session, session, session_reasons
from importer.engine.planner.statements import numbering_reasons, statements
from importer.engine.readback import Readback
from importer.engine.server import Server
from importer.engine.sorting.keys import SortKey
from importer.engine.sorting.sample import KeyOrder
from importer.engine.staging import Staged, plan_staging
from importer.engine.surroundings import NOTHING_AROUND, Surroundings
from importer.engine.table import Table

__all__ = ["make_plan"]


def make_plan(
    data_bytes: int,
    dialect: Dialect,
    table: Table,
    mapping: Sequence[ColumnMapping],
    options: Options,
    server: Server,
    fillings: Sequence[Filling] = (),
    *,
    packing: str = "",
    job: str = "",
    around: Surroundings = NOTHING_AROUND,
    indexes: Indexes = NO_INDEXES,
    create: str = "",
    distance: Distance | None = None,
    key_order: KeyOrder | None = None,
    sorted_by: SortKey | None = None,
    past: Past = NO_PAST,
    record_bytes: float = 0,
) -> ImportPlan:
    """Decide how `data_bytes` of records go into the table. Raises Problem with the first thing that forbids it.

    A mode that stages needs the job's key; mode create the statement that makes the staging table, and `table` as it
    will be then. `key_order` and `sorted_by` as in Case; `past`: what was measured here before;
    `record_bytes` a record's on average.
    """
    check_options(options)
    if options.method == "insert_single":
        options = replace(options, commit_rows=1)
    server = as_it_will_be(server, options)
    check_server(server)
    check_table(table, options.mode)
    check_mapping(mapping, table, fillings)
    case = Case(
        data_bytes,
        dialect,
        table,
        mapping,
        fillings,
        options,
        server,
        packing,
        job,
        around,
        indexes,
        create,
        distance,
        key_order,
        sorted_by,
        past,
        record_bytes,
    )
    modes.check_mode(options.mode, options.on_duplicate, table, around, case.columns)
    check_session(case)
    check_load_as(case)
    check_foreign_keys(case)
    staged = _staged(case)
    chosen = choose_method(case)
    method = chosen.name
    at_once, parallelism_reason = choose_parallelism(case)
    most_bytes = chunk_bytes(case, at_once)
    order, order_reason = choose_order(case)
    sql = statements(case, method)
    return ImportPlan(
        method=method,
        schema=table.schema,
        table=case.loaded_into.name,
        **sql,
        chunk_bytes=most_bytes,
        chunk_rows=chunk_rows(case),
        first_chunk_bytes=FIRST_CHUNK,
        last_chunks=last_chunks(case, at_once),
        parallelism=at_once,
        table_digest="" if staged else table.digest,
        fields=tuple(each.column for each in mapping),
        reasons=(
            chosen.reason,
            *reading_reasons(case),
            *as_bytes_reasons(sql["bytes_statement"]),
            order_reason,
            parallelism_reason,
            chunks_reason(case, most_bytes),
            *session_reasons(case),
            *server_reasons(case),
            *index_reasons(case),
            *keeping_reasons(case),
            *holding_reasons(case),
            *replication_reasons(case, most_bytes),
            *numbering_reasons(case),
            *auto_increment_reasons(case, most_bytes),
            *load_as_reasons(case),
        ),
        exactness=_exactness(case),
        readback=_readback(case),
        ordered=options.ordered or not case.rolls_back,
        rolls_back=case.rolls_back,
        sorted_by=order,
        session=session(case),
        lock_table=options.lock_table,
        staged=staged,
        arrangement=with_variables(case, arrangement(case)),
        rows_per_statement=rows_per_statement(case, method),
        files_folder=case.server.shared_folder if method == "load_data_server" else "",
        sources=tuple(sorted({each.source for each in fillings} - {"text"})),
        seen=seen(case),
    )


def _staged(case: Case) -> Staged | None:
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
        case.create,
        case.staging_engine,
        staged_without(case),
    )


def _exactness(case: Case) -> Exactness | None:
    if not case.options.checks:
        return None
    return Exactness.of(
        case.dialect.plain, case.mapping, case.table, mariadb=case.server.mariadb, rounding=case.options.rounding
    )


def _readback(case: Case) -> Readback | None:
    options = case.options
    if options.verify != "full":
        return None
    if options.on_duplicate != "fail" or case.numbers_rows:
        raise Problem(
            "Rows that skip, replace or change one another cannot be compared with the file one by one.",
            advice="Verify by counts, or let duplicates fail in mode append, atomic or replace.",
        )
    return Readback.of(case.loaded_into, case.mapping, options.rounding)

"""From a file and a table to a plan that can be shown and started: nothing is written anywhere yet."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from uuid import UUID, uuid4

from importer.engine import modes
from importer.engine.check.rights import check_rights
from importer.engine.connection import Connection, connect
from importer.engine.dialect import Dialect
from importer.engine.mapping import AskedField, ColumnMapping, Filling
from importer.engine.options import Options
from importer.engine.plan import ImportPlan, make_plan
from importer.engine.profile import Profile, profile_file
from importer.engine.server import read_server
from importer.engine.suggestions import suggest_mapping
from importer.engine.surroundings import NOTHING_AROUND, Surroundings, read_surroundings
from importer.engine.table import Table, read_table
from importer.models import ImportJob, SourceFile, Target


@dataclass(frozen=True)
class Prepared:
    """Everything that a job is made of, its key included."""

    key: UUID
    source: SourceFile
    target: Target
    profile: Profile
    table: Table
    mapping: tuple[ColumnMapping, ...]
    fillings: tuple[Filling, ...]
    options: Options
    plan: ImportPlan


def prepare(
    source: SourceFile,
    target: Target,
    table_name: str,
    *,
    dialect: Dialect | None = None,
    mapping: Sequence[ColumnMapping] | None = None,
    fillings: Sequence[Filling] = (),
    null_markers: Sequence[str] | None = None,
    asked: Sequence[AskedField] = (),
    options: Options | None = None,
) -> Prepared:
    """Profile the file, look at the table and plan. None leaves dialect, mapping or options to what the file suggests.

    `table_name` may be `table` or `schema.table`. `asked` counts where no whole mapping is given. Raises Problem with
    the first thing that stands in the way.
    """
    options = options or Options()
    profile = profile_file(source.file, dialect)
    schema, _, name = table_name.rpartition(".")
    with connect(target.address) as connection:
        table = read_table(connection, schema or target.database, name)
        server = read_server(connection, target.address)
        around = _look_around(connection, table, options)
    mapping = tuple(mapping) if mapping is not None else suggest_mapping(profile, table, null_markers, asked=asked)
    key = uuid4()
    plan = make_plan(
        profile.size - profile.data_offset,
        profile.dialect,
        table,
        mapping,
        options,
        server,
        fillings,
        packing=profile.packing,
        job=str(key),
        around=around,
    )
    return Prepared(key, source, target, profile, table, mapping, tuple(fillings), options, plan)


def _look_around(connection: Connection, table: Table, options: Options) -> Surroundings:
    """What a mode has to keep; and whether the account may do what the mode does."""
    if not modes.stages(options.mode) and options.on_duplicate == "fail":
        return NOTHING_AROUND
    check_rights(connection, table, options.mode, options.on_duplicate)
    return read_surroundings(connection, table.schema, table.name)


def replan(job: ImportJob, key: UUID) -> ImportPlan:
    """The plan for what is not in yet of a job, for its table and server as they are now; its chunks stay as they are.

    `key` is the job's from now on.

    Raises Problem with the first thing that stands in the way.
    """
    with connect(job.target.address) as connection:
        table = read_table(connection, job.schema_name, job.table_name)
        server = read_server(connection, job.target.address)
        around = _look_around(connection, table, job.options)
    options = replace(job.options, chunk_bytes=job.plan.chunk_bytes, parallelism=job.parallelism)
    return make_plan(
        job.data_bytes,
        job.file_dialect,
        table,
        job.mapping,
        options,
        server,
        job.fillings,
        packing=job.packing,
        job=str(key),
        around=around,
    )

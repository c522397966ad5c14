"""Prepares a lab: checks the right to create tables, writes the sample, plans each combination, lays out the trials."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from importer.connections.source_location import location_of
from importer.engine.errors import Cancelled, Problem
from importer.engine.mysql.connection import Connection
from importer.engine.planner.decisions.row_order import DISK_BYTES_PER_BYTE
from importer.engine.schema.table import Table, read_table
from importer.engine.source.byte_source import SourceLocation, open_source, size_of
from importer.engine.source.chunks.chunk_sizes import ChunkSizes
from importer.engine.source.chunks.scanner import ChunkRange, Position, ScanPolicy, scan
from importer.engine.source.compression import unpacking_limits
from importer.engine.source.decoding import needs_copy, plain_pieces
from importer.engine.source.profile.profile import Profile, profile_file
from importer.engine.target import scratch_tables
from importer.engine.target.scratch_tables import ScratchTable, scratch_name
from importer.engine.tuning.grid import Settings
from importer.engine.tuning.rounds import turns
from importer.engine.tuning.sampling import DataRange, SampleSize, write_sample
from importer.lab.cleanup import tidy
from importer.lab.dry_plan import DistinctCombinations, DryPlan, leave_out_alike, nothing_to_compare, trial_options
from importer.lab.estimate import expected_bytes
from importer.lab.transitions import Status, change_held, connected, held, lease_keeper
from importer.lab.trial_order import lay_out
from importer.models import Lab, SourceFile
from importer.preparation.prepare import PreparedImport, prepare
from importer.preparation.request import ImportRequest
from importer.worker.working_copies import PART

# In place of a trial's number: the table that is created only to check that tables can be created.
REHEARSAL = 0


def prepare_lab(lab: Lab) -> None:
    """Create a scratch table on trial, write the sample, and lay out the trials.

    Raises Problem with the first obstacle, Cancelled if the lab is no longer wanted.
    """
    if lab.source is None:
        raise Problem("The file is no longer known here.", lab.source_name, "Upload it again, and start a new lab.")
    keeper = lease_keeper(lab)
    with keeper:
        with connected(lab, keeper) as connection:
            table = read_table(connection, lab.schema_name, lab.table_name)
            # An earlier attempt may have died after its rehearsal.
            tidy(lab, connection)
            with _rehearsed(lab, connection, table):
                pass
        path, taken = _write(lab, lab.source)
        sample = _as_source(lab, path, taken)
        with connected(lab, keeper) as connection, _rehearsed(lab, connection, table) as rehearsal:
            distinct = _distinct(lab, sample, rehearsal)
    if problem := nothing_to_compare(distinct, "sample"):
        raise problem
    _lay_out(lab, table, sample, taken, distinct)


def scratch_of(lab: Lab, number: int) -> ScratchTable:
    """The scratch table of the lab's trial with that number."""
    key = str(lab.key)
    return ScratchTable(lab.scratch_schema, scratch_name(key, number), key, lab.table)


@contextmanager
def _rehearsed(lab: Lab, connection: Connection, table: Table) -> Iterator[ScratchTable]:
    """A scratch table, dropped at the end: to check the account's rights in the schema. Raises TargetProblem."""
    rehearsal = scratch_of(lab, REHEARSAL)
    scratch_tables.record(connection, rehearsal)
    try:
        scratch_tables.create(connection, rehearsal, table, with_parents=lab.grid.needs_foreign_keys)
        yield rehearsal
    finally:
        scratch_tables.drop(connection, [rehearsal])


def prepare_trial(lab: Lab, settings: Settings, sample: SourceFile, scratch: ScratchTable) -> PreparedImport:
    """Prepare the import of a trial: of the sample into the scratch table. Raises Problem as prepare() does."""
    options = trial_options(lab.options, lab.planned_json, settings)
    request = ImportRequest.like(lab, dialect=lab.file_dialect.plain, options=options)
    return prepare(sample, lab.target, f"{scratch.schema}.{scratch.name}", request)


def _distinct(lab: Lab, sample: SourceFile, scratch: ScratchTable) -> DistinctCombinations:
    """Plan each combination as its trials will be, and cut the sample into its chunks."""
    chunks: dict[ChunkSizes, list[ChunkRange]] = {}

    def dry_plan(settings: Settings) -> DryPlan:
        _require_wanted(lab)
        prepared = prepare_trial(lab, settings, sample, scratch)
        sizes, profile = prepared.plan.chunk_sizes, prepared.profile
        if sizes not in chunks:
            begin = Position(profile.data_offset, profile.data_line)
            with open_source(location_of(sample)) as fd:
                found = scan(fd, profile.dialect, sizes, begin, end=sample.size, policy=ScanPolicy(tolerate=True))
                chunks[sizes] = list(found)
        return DryPlan(prepared.plan, chunks[sizes])

    return leave_out_alike(lab.combinations, lab.planned_json, dry_plan, "sample")


def _write(lab: Lab, source: SourceFile) -> tuple[Path, SampleSize]:
    """Write the sample to disk (with fsync), under a name with the number of this attempt."""
    profile = profile_file(location_of(source), lab.file_dialect)
    settings.LAB_DIR.mkdir(parents=True, exist_ok=True, mode=0o700)
    path = settings.LAB_DIR / f"{lab.key}.{lab.attempt}"
    plain = path.with_name(path.name + PART)
    try:
        if needs_copy(profile.packing, profile.dialect):
            _unpack(lab, location_of(source), profile, plain)
            return path, _take(lab, plain, profile, path)
        return path, _take(lab, location_of(source), profile, path)
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    finally:
        plain.unlink(missing_ok=True)


def _unpack(lab: Lab, file: SourceLocation, profile: Profile, plain: Path) -> None:
    """Write the decompressed and transcoded file, within the budget: records can be found only in that copy."""
    limits = unpacking_limits()
    limits = replace(limits, largest=min(limits.largest, lab.budget.local_bytes or limits.largest))
    with open_source(file) as fd, plain.open("wb") as out:
        for piece in plain_pieces(fd, profile.packing, profile.dialect, limits):
            _require_wanted(lab)
            out.write(piece.data)


def _take(lab: Lab, plain: SourceLocation, profile: Profile, path: Path) -> SampleSize:
    with open_source(plain) as fd, path.open("xb") as out:
        taken = write_sample(
            fd,
            profile.dialect.plain,
            lab.requested_sample,
            DataRange(profile.data_offset, profile.data_line, size_of(fd)),
            out,
            room=_room(lab),
            on_progress=lambda: _require_wanted(lab),
        )
        out.flush()
        os.fsync(out.fileno())
    return taken


def _room(lab: Lab) -> int | None:
    """The most bytes of a sample: the local budget, less room for sorted copies if trials sort."""
    most = lab.budget.local_bytes
    sorts = "key" in (lab.planned_json["sort"], *lab.grid.values.get("sort", ()))
    return most // (1 + DISK_BYTES_PER_BYTE) if most and sorts else most


def _require_wanted(lab: Lab) -> None:
    if not held(lab).exists():
        raise Cancelled("The lab is no longer wanted.", where=str(lab))


def _as_source(lab: Lab, path: Path, taken: SampleSize) -> SourceFile:
    """Record the sample as a source file; remove_sample() deletes both, however the lab ends."""
    return SourceFile.objects.create(
        name=lab.source_name,
        path=str(path),
        size=taken.bytes,
        received=taken.bytes,
        status=SourceFile.Status.READY,
        owned=False,
    )


def _lay_out(lab: Lab, table: Table, sample: SourceFile, taken: SampleSize, distinct: DistinctCombinations) -> None:
    """Create a trial for each turn of the combinations that are tried."""
    with transaction.atomic():
        held_still = change_held(
            lab,
            status=Status.RUNNING,
            sample=sample,
            sample_rows=taken.rows,
            sample_bytes=taken.bytes,
            table_bytes=expected_bytes(table, taken.rows),
            left_out_json=[*lab.left_out_json, *distinct.left_out],
            prepared_at=timezone.now(),
        )
        if not held_still:
            raise Cancelled("The lab is no longer wanted.", where=str(lab))
        tried = [number for number, each in enumerate(lab.combinations) if each in distinct.tried]
        lay_out(lab, turns(tried, lab.repeats, lab.seed))

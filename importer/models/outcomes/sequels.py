"""What came after an import or a run that did not end well, such as "failed, then repaired by import 12".

Home, lists, pages, messages, commands and the API ask here. An outcome without a sequel still needs a person.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Case, Max, OuterRef, Q, Subquery, When

from importer.models.job import ImportJob
from importer.models.outcomes import COMPLETE_IMPORTS, outcome, outcome_words
from importer.models.outcomes.looks import NO_NEW_FILE, THEN
from importer.models.outcomes.reloaded_rows import missing_rows, rows_taken
from importer.models.outcomes.runs import outcome_of_run
from importer.models.schedule import DiscoveredFile, ScheduleRun
from importer.models.source_file import SourceFile

REPAIRED, REPEATED, ANSWERED, ARRIVED, DISMISSED = "repaired", "repeated", "answered", "arrived", "dismissed"
Status = ImportJob.Status
File = DiscoveredFile.Outcome
# Which imports can have a sequel: they failed, or rejected rows.
_UNWELL = Q(status=Status.FAILED) | Q(status=Status.SUCCEEDED, restored_at=None) & (
    Q(rejected_rows__gt=0) | Q(balanced=False)
)

# The first later run that has loaded something, of one that failed because no file was there.
_LATER = ScheduleRun.objects.filter(
    schedule=OuterRef("schedule"), due_at__gt=OuterRef("due_at"), files__outcome=File.LOADED
)
_ARRIVED = Case(When(note=NO_NEW_FILE.words, then=Subquery(_LATER.order_by("due_at", "pk").values("pk")[:1])))
# How an import ended, and who has dismissed it.
_ENDS = ("pk", "status", "balanced", "rejected_rows", "dismissed_at", "dismissed_by__username")
# The table of an import; its file, the content of that, and the table.
_TABLE = ("target", "schema_name", "table_name")
OF_FILE = ("source", "source__fingerprint", *_TABLE)


@dataclass(frozen=True)
class Sequel:
    """How something that did not end well was settled: in one of the words above, by an import, a run or a person."""

    how: str
    by: str
    job: int | None = None

    @property
    def words(self) -> str:
        return f"{self.how} by {self.by}" if self.by else self.how


def _by_import(how: str, job: int) -> Sequel:
    return Sequel(how, f"import {job}", job)


def sequels(keys: Iterable[int], *, repeats: bool = True) -> dict[int, Sequel]:
    """The sequels of these imports, by primary key; of those without one that need a person nothing.

    Without `repeats` for imports that are known not to be among those of repeated_by().
    """
    # As a list: MySQL takes no limit in a subquery. Columns, not objects: Home asks for thousands.
    unwell = ImportJob.objects.filter(_UNWELL, pk__in=list(keys)).order_by()
    ends = list(unwell.values_list(*_ENDS, *OF_FILE))
    rejected = {pk: rows for pk, _, _, rows, *_ in ends if rows}
    repaired = _repaired_by(rejected)
    failed = {
        pk: file
        for pk, status, balanced, _, _, _, *file in ends
        if repeats and pk not in repaired and (status == Status.FAILED or not balanced)
    }
    return (
        {pk: Sequel(DISMISSED, name or "") for pk, _, _, _, since, name, *_ in ends if since}
        | {pk: _by_import(REPAIRED, by) for pk, by in repaired.items()}
        | {pk: _by_import(REPEATED, by) for pk, by in repeated_by(failed).items()}
    )


def sequel(job: ImportJob) -> Sequel | None:
    """The sequel of an import; None of one that ended well, is under way, or still needs a person."""
    ended = outcome(job)
    return sequels([job.pk]).get(job.pk) if ended and ended.is_unwell else None


def needs_a_person(job: ImportJob) -> bool:
    """Whether the import did not end well, and nothing has settled that."""
    ended = outcome(job)
    return bool(ended and ended.is_unwell) and sequel(job) is None


def told(job: ImportJob, known: Mapping[int, Sequel] | None = None) -> str:
    """The outcome of an import with what came after it, in words; the status of one that is under way.

    `known`: sequels() of several imports.
    """
    return after(outcome_words(job), sequel(job) if known is None else known.get(job.pk))


def after(words: str, its: Sequel | None) -> str:
    """An outcome in words, with its sequel."""
    return f"{words}{THEN}{its.words}" if its else words


def run_sequels(keys: Iterable[int]) -> dict[int, Sequel]:
    """The sequels of these runs of schedules: each file that was not loaded, or not whole, has been dealt with."""
    if not (keys := list(keys)):
        return {}
    needing = ScheduleRun.objects.filter(
        Q(status__in=ScheduleRun.UNSUCCESSFUL) | Q(files__job__rejected_rows__gt=0), pk__in=keys
    )
    runs = list(needing.select_related("dismissed_by").annotate(arrived=_ARRIVED).distinct())
    if not runs:
        return {}
    of_run: dict[int, list[DiscoveredFile]] = {run.pk: [] for run in runs}
    unwell = Q(outcome__in=(File.FAILED, File.NEEDS_ANSWER)) | Q(job__rejected_rows__gt=0)
    files = list(DiscoveredFile.objects.filter(unwell, run__in=of_run).select_related("schedule", "run"))
    of_files = _of_files(files)
    for each in files:
        of_run[each.run_id].append(each)
    found = {run.pk: _of_run(run, [of_files.get(each.pk) for each in of_run[run.pk]]) for run in runs}
    return {pk: its for pk, its in found.items() if its}


def told_of_run(run: ScheduleRun, known: Mapping[int, Sequel] | None = None) -> str:
    """The outcome of a run with what came after it, in words. `known`: run_sequels() of several runs."""
    known = run_sequels([run.pk]) if known is None else known
    return after(outcome_of_run(run), known.get(run.pk))


def _dismissed(run: ScheduleRun) -> Sequel:
    return Sequel(DISMISSED, run.dismissed_by.get_username() if run.dismissed_by else "")


def _repaired_by(rejected: Mapping[int, int]) -> dict[int, int]:
    """The import that brought the last of the rejected rows of each, if all other rows of its file are settled.

    `rejected`: how many rows each has rejected.
    """
    if not rejected:
        return {}
    taken = rows_taken(rejected.keys())
    whole = ImportJob.objects.in_bulk([pk for pk, rows in rejected.items() if taken.get(pk, 0) >= rows])
    settled = {pk: job.rejected_rows for pk, job in whole.items() if _is_settled_but_for_rejects(job)}
    repaired = [pk for pk, missing in missing_rows(settled).items() if not missing]
    by = COMPLETE_IMPORTS.filter(rejects_of__in=repaired).order_by().values_list("rejects_of")
    return dict(by.annotate(last=Max("pk")))


def _is_settled_but_for_rejects(job: ImportJob) -> bool:
    unfinished = job.stages and not job.finished
    counted = job.scan_finished and job.accounted_rows >= job.scanned_rows
    return counted and not unfinished and not job.proof_is_broken


def repeated_by(failed: Mapping[int, Sequence[Any]]) -> dict[int, int]:
    """The last complete import of the file of each, or of one with its content, into its table, if it is a later one.

    `failed`: OF_FILE of each.
    """
    if not failed:
        return {}
    contents = {content for _, content, *_ in failed.values()} - {""}
    same = Q(pk__in={source for source, *_ in failed.values()}) | Q(fingerprint__in=contents)
    last = _last_complete(same)
    found = {}
    for pk, (source, content, *table) in failed.items():
        by = max(last.get((file, *table), 0) for file in (source, content))
        if by > pk:
            found[pk] = by
    return found


def _last_complete(files: Q) -> dict[tuple[object, ...], int]:
    """The last complete import into each table of each of these files, and of each of their contents.

    Looked up once for all: a search for each of hundreds of imports of one file takes the square of their number.
    """
    content_of = dict(SourceFile.objects.filter(files).values_list("pk", "fingerprint"))
    last: dict[tuple[object, ...], int] = {}
    of_them = COMPLETE_IMPORTS.filter(source__in=content_of).order_by()
    for source, *table, pk in of_them.values_list("source", *_TABLE).annotate(last=Max("pk")):
        for file in {source, content_of[source]} - {""}:
            last[file, *table] = max(pk, last.get((file, *table), 0))
    return last


def _of_run(run: Any, of_files: Sequence[Sequel | None]) -> Sequel | None:
    """How a run was settled, given how each of the files was that it did not load, or not whole."""
    known = [each for each in of_files if each]
    if not of_files and run.arrived:
        known = [Sequel(ARRIVED, f"run {run.arrived}")]
    if known and len(known) == len(of_files or known):
        # The worst first: what a person has repaired says more than what was repeated.
        return max(known, key=lambda each: (each.how == DISMISSED, each.how == REPAIRED, each.job or 0))
    return _dismissed(run) if run.dismissed_at else None


def _of_files(files: Sequence[DiscoveredFile]) -> dict[int, Sequel]:
    """How each file that a run did not load, or not whole, was settled: by its import, or another of its content."""
    jobs = [each.job_id for each in files if each.job_id]
    settled, whole = sequels(jobs), set(COMPLETE_IMPORTS.filter(pk__in=jobs).values_list("pk", flat=True))
    # What has lost rows since is dealt with once these are.
    lossy = set(COMPLETE_IMPORTS.filter(pk__in=jobs, rejected_rows__gt=0).values_list("pk", flat=True))
    contents = {each.fingerprint for each in files if each.outcome != File.LOADED} - {""}
    last = _last_complete(Q(fingerprint__in=contents)) if contents else {}
    since = dict(ImportJob.objects.filter(pk__in=set(last.values())).values_list("pk", "created_at"))
    found = {}
    for each in files:
        how = ANSWERED if each.outcome == File.NEEDS_ANSWER else REPEATED
        table = (each.schedule.target_id, each.schedule.schema_name, each.schedule.table_name)
        if each.job_id in settled:
            found[each.pk] = settled[each.job_id]
        elif each.outcome == File.LOADED or each.job_id in lossy:
            continue
        elif each.job_id in whole:
            found[each.pk] = _by_import(how, each.job_id)
        elif (by := last.get((each.fingerprint, *table))) and since[by] >= each.run.created_at:
            found[each.pk] = _by_import(how, by)
    return found

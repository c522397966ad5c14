"""Generated imports for tests of the history; deleted afterwards."""

from collections.abc import Iterator
from contextlib import contextmanager

from bench.workloads.sample_history import seed
from importer.history.facts import Value
from importer.history.read import recorded, rows
from importer.models import ImportJob, JobRecord


@contextmanager
def made_up_imports(jobs: int, chunks: int, *, tables: int) -> Iterator[dict[int, dict[str, Value]]]:
    """Everything that is known of them, by import."""
    before = set(recorded())
    for _ in seed(jobs, chunks, tables=tables):
        pass
    made = [job for job in recorded() if job not in before]
    yield rows(made)
    found = ImportJob.objects.filter(pk__in=made)
    targets, sources = {each.target for each in found}, {each.source for each in found}
    found.delete()
    JobRecord.objects.filter(pk__in=made).delete()
    for each in (*targets, *sources):
        each.delete()

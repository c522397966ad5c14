"""What the application knows about an import, in plain values for the engine's causes."""

from importer.engine.mysql.diagnosis.facts import Facts
from importer.models import Chunk, ImportJob


def facts_of(job: ImportJob) -> Facts:
    """The facts of an import, with a few short queries."""
    by_job = _connections(job)
    return Facts(
        number=job.pk,
        status=job.status,
        schema=job.schema_name,
        table=job.table_name,
        connections=tuple(by_job.pop(job.pk, ())),
        others={connection: number for number, connections in by_job.items() for connection in connections},
    )


def _connections(job: ImportJob) -> dict[int, set[int]]:
    """The connections of all imports into the target, by the import's number."""
    loading = Chunk.objects.filter(status=Chunk.Status.LOADING, job__target=job.target_id, connection_id__isnull=False)
    stepping = ImportJob.objects.filter(target=job.target_id, step_connection_id__isnull=False)
    found = [
        *loading.order_by().values_list("job_id", "connection_id").distinct(),
        *stepping.values_list("pk", "step_connection_id"),
    ]
    by_job: dict[int, set[int]] = {}
    for number, connection in found:
        if connection is not None:
            by_job.setdefault(number, set()).add(connection)
    return by_job

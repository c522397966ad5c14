"""Celery tasks: an id in, one call, nothing else. What they do is in work.py, what they may do in jobs.py."""

from celery import shared_task

from importer import jobs, wake, work


@shared_task
def scan(job_id: int) -> None:
    work.scan_job(job_id, wake.send)


@shared_task
def load_chunk(chunk_id: int) -> None:
    work.load(chunk_id, wake.send)


@shared_task
def verify(job_id: int) -> None:
    work.verify_job(job_id, wake.send)


@shared_task
def advance(job_id: int) -> None:
    wake.send(jobs.advance(job_id))


@shared_task
def sweep() -> None:
    work.sweep(wake.send)

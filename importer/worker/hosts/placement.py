"""Keeps work away from hosts that cannot do it: a host that does not see a job's file hands the step back.

The host is then left out of the job, and messages for steps that read the file are addressed to workers of other hosts.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from importer.engine.errors import Problem, SourceMissing, SourceProblem
from importer.jobs.sharing.hosts import leave_out, left_out_hosts, reading_hosts
from importer.models import ImportJob
from importer.queue import Message, queue_of
from importer.worker.hosts import presence
from importer.worker.hosts.presence import Worker
from importer.worker.live_progress import redis_read_errors

NO_TASKS: Mapping[str, int] = MappingProxyType({})


def place(messages: Sequence[Message]) -> list[Message]:
    """The messages, those with hosts in `not_on` addressed to live workers elsewhere.

    If there is none, or Redis does not answer, any worker gets the message; a host that is left out hands it back.
    """
    if not any(message.not_on for message in messages):
        return list(messages)
    try:
        workers = presence.live_workers()
    except redis_read_errors():
        return list(messages)
    given: Counter[str] = Counter()
    return [_placed(message, workers, given) if message.not_on else message for message in messages]


def _placed(message: Message, workers: Iterable[Worker], given: Counter[str]) -> Message:
    chosen = least_busy(able(workers, queue_of(message.task, message.label), message.not_on), given)
    if not chosen:
        return message
    given[chosen.name] += 1
    return replace(message, worker=chosen.name)


def least_busy(workers: Iterable[Worker], given: Mapping[str, int] = NO_TASKS) -> Worker | None:
    """The worker with the smallest share of busy slots; None without any. `given`: tasks it was just given, by name."""
    return min(workers, key=lambda each: (each.busy + given.get(each.name, 0)) / max(1, each.slots), default=None)


def able(workers: Iterable[Worker], queue: str, not_on: Collection[str] = ()) -> list[Worker]:
    """The workers that serve the queue and have one of their own, on other hosts than those in `not_on`."""
    return [each for each in workers if each.direct and queue in each.queues and each.host not in not_on]


def hand_back(job: ImportJob, error: Exception, task: str) -> bool:
    """Whether the step, which has failed with this error, is to be released for another host.

    True if this host does not see the file while another live host, which may see it, takes such tasks: then this host
    is left out of the job. Also if Redis, which knows the hosts, does not answer: then the step is tried again.
    """
    host = presence.own_host()
    if not host or not isinstance(error, SourceMissing):
        return False
    job.refresh_from_db(fields=["left_out_json"])
    try:
        others = able(presence.live_workers(), queue_of(task, job.target.label), {*left_out_hosts(job), host})
    except redis_read_errors():
        return True
    if others:
        leave_out(job.pk, host, place_of(job))
    return bool(others)


def place_of(job: ImportJob) -> str:
    """What a host must see to read the job's file, in words that a person may read."""
    source = job.source
    if job.needs_copy and job.plain_copy:
        return "the working copy of the file"
    if all(each.owned for each in source.files):
        return "the uploaded file"
    return source.path.rpartition("/")[0] or source.path


def problem_if_no_host_sees(job: ImportJob) -> Problem | None:
    """The problem of a file that no live host sees, with the names of those that were tried; None if there is one host.

    It is retryable if another host has read the file before: that one may come back.
    """
    here, source = presence.own_host(), job.source
    if not here:
        return None
    job.refresh_from_db(fields=["left_out_json"])
    tried = list(dict.fromkeys((*left_out_hosts(job), here)))
    readers = [host for host in reading_hosts(job) if host != here]
    if len(tried) == 1 and not readers and (source.host in ("", here) or not source.owned):
        return None
    seen = f"No worker's host sees {place_of(job)}. Tried: {', '.join(tried)}."
    if readers:
        seen += f" Read before by {', '.join(readers)}."
    advice = "Let the hosts of workers see it under the same path, in a shared or mounted folder, and retry."
    if source.owned:
        seen += f" It was written on {source.host}." if source.host else ""
        advice += " A store for files (FILE_STORE) does without that. If the file was deleted, upload it again."
    return SourceProblem(seen, source.name, advice, retryable=bool(readers))

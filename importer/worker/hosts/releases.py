"""Keeps imports that a newer release has planned away from workers of an older one, as during an update.

Such a worker changes nothing of the import: it passes the message on to a live worker that knows the plan. If there is
none, the import waits; the next message comes from a process of the newer release.
"""

import redis

from importer import queue
from importer.engine.plan.stored_plan import format_of, is_newer
from importer.models import ImportJob
from importer.queue import Message, queue_of
from importer.worker.hosts import presence
from importer.worker.hosts.placement import able, least_busy


def pass_on(task: str, id: int) -> bool:
    """Pass the message of a step on if a newer release has planned its import. Returns whether this worker must not
    take the step.
    """
    of = {"chunks": id} if task == "load_run" else {"pk": id}
    found = ImportJob.objects.filter(**of).values_list("plan_json", "target__label").first()
    if found is None or not is_newer(plan := found[0]):
        return False
    try:
        knowing = [each for each in presence.live_workers() if each.plan_format >= format_of(plan)]
    except redis.RedisError:
        return True
    if chosen := least_busy(able(knowing, queue_of(task, found[1]))):
        queue.send([Message(task, id, worker=chosen.name)])
    return True

"""Reports the health of this installation, for supervisors, containers and monitoring."""

from collections.abc import Iterator

import redis
from django.contrib.auth.decorators import login_not_required
from django.db import DatabaseError, connection
from django.http import HttpRequest, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from importer.engine.native import loader
from importer.sources.room import fullest_disk
from importer.sources.store.file_store import file_store
from importer.worker.hosts import presence
from importer.worker.hosts.installation import idle_queues


@require_safe
@login_not_required
@never_cache
def healthz(_request: HttpRequest) -> JsonResponse:
    """200 if the database answers, else 503. Without Redis the pages, uploads and the API work, so they stay in reach.

    `redis`: whether it answers. `workers`: the roles of the workers that are alive. `native`: the build of the C
    library that this process uses, "any" or "newer"; null without the library, which makes imports slower.
    """
    health: dict[str, object] = {"database": _database_answers(), "native": loader.build_in_use()}
    try:
        health |= {"redis": True, "workers": [worker.role for worker in presence.live_workers()]}
    except redis.RedisError:
        health |= {"redis": False, "workers": []}
    return JsonResponse(health, status=200 if health["database"] else 503)


@require_safe
@login_not_required
@never_cache
def readyz(_request: HttpRequest) -> JsonResponse:
    """200 if imports can run here now, else 503 with the names of the parts that fail.

    The parts: `database`, `redis`, `queue NAME` (no live worker takes its tasks), `store`, `disk`. `low` has `disk` if
    a disk is nearly full. Anybody may ask, so the answer has no addresses, paths or figures.
    """
    disk, store = fullest_disk(), file_store()
    failing = [*([] if _database_answers() else ["database"]), *_failing_queues()]
    failing += [*(["store"] if store and not store.answers() else []), *(["disk"] if disk.is_full else [])]
    low = ["disk"] if disk.is_low else []
    return JsonResponse({"ready": not failing, "failing": failing, "low": low}, status=503 if failing else 200)


def _failing_queues() -> Iterator[str]:
    try:
        idle = idle_queues(presence.live_workers())
    except redis.RedisError:
        yield "redis"
        return
    for queue in idle:
        yield f"queue {queue}"


def _database_answers() -> bool:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError:
        return False
    return True

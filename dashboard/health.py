"""Reports the health of this installation, for supervisors, containers and monitoring."""

import redis
from django.contrib.auth.decorators import login_not_required
from django.db import DatabaseError, connection
from django.http import HttpRequest, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from importer.engine.native import loader
from importer.worker import presence


@require_safe
@login_not_required
@never_cache
def healthz(_request: HttpRequest) -> JsonResponse:
    """200 if database and Redis answer, else 503.

    `workers`: the roles of the workers that are alive. `native`: the build of the C library that this process uses,
    "any" or "newer"; null without the library, which makes imports slower.
    """
    health: dict[str, object] = {"database": _database_answers(), "native": loader.build_in_use()}
    try:
        health |= {"redis": True, "workers": [name.partition("@")[0] for name in presence.live_workers()]}
    except redis.RedisError:
        health |= {"redis": False, "workers": []}
    return JsonResponse(health, status=200 if health["database"] and health["redis"] else 503)


def _database_answers() -> bool:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError:
        return False
    return True

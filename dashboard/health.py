"""Whether this installation works: for people who wait for it to start, containers and monitoring."""

import redis
from django.contrib.auth.decorators import login_not_required
from django.db import DatabaseError, connection
from django.http import HttpRequest, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from importer.worker import presence


@require_safe
@login_not_required
@never_cache
def healthz(_request: HttpRequest) -> JsonResponse:
    """200 if database and Redis answer, else 503; the roles of the workers that are alive."""
    found: dict[str, object] = {"database": _database_answers()}
    try:
        found |= {"redis": True, "workers": [name.partition("@")[0] for name in presence.living()]}
    except redis.RedisError:
        found |= {"redis": False, "workers": []}
    return JsonResponse(found, status=200 if found["database"] and found["redis"] else 503)


def _database_answers() -> bool:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError:
        return False
    return True

"""Reads messages from Redis, and drops each that Millrace did not write.

kombu and Celery end the worker at a message that they cannot take apart, and Redis delivers it again to the next one.
"""

import base64
import json
import logging
from typing import Any

from django.conf import settings
from kombu.transport import redis
from kombu.transport.virtual import Empty

log = logging.getLogger(__name__)

QUEUES = {settings.CELERY_TASK_DEFAULT_QUEUE, *(each["queue"] for each in settings.CELERY_TASK_ROUTES.values())}
PREFIX = "importer.tasks."
LONGEST_ID = 2**63 - 1


def is_ours(raw: Any) -> bool:
    """Whether a message has the form in which importer.queue and beat send one: a task of ours, with at most one id."""
    try:
        args, kwargs, embed = json.loads(base64.b64decode(raw["body"], validate=True))
        headers, properties = raw["headers"], raw["properties"]
        return (
            (raw["content-type"], raw["content-encoding"]) == ("application/json", "utf-8")
            and properties["body_encoding"] == "base64"
            and {type(properties[each]) for each in ("delivery_tag", "correlation_id")} == {str}
            and {type(properties["delivery_info"][each]) for each in ("exchange", "routing_key")} == {str}
            and headers["task"].startswith(PREFIX)
            and type(headers["id"]) is str
            and {type(headers.get(each)) for each in ("eta", "expires")} <= {str, type(None)}
            and {type(each) for each in headers.get("timelimit") or ()} <= {int, float, type(None)}
            and len(args) <= 1
            and all(type(each) is int and 0 < each <= LONGEST_ID for each in args)
            and not kwargs
            and not any(embed.values())
        )
    except (LookupError, TypeError, ValueError, AttributeError, RecursionError):
        return False


class Channel(redis.Channel):
    """Leaves out what is not even JSON."""

    def _brpop_read(self, **options: Any) -> Any:
        try:
            return super()._brpop_read(**options)  # type: ignore[no-untyped-call]
        except (json.JSONDecodeError, UnicodeDecodeError, RecursionError) as error:
            log.warning("Something in Redis is no message, and was dropped: %s", error)
            raise Empty from error


class Transport(redis.Transport):
    """kombu's way to Redis, for our messages alone."""

    Channel = Channel

    def _deliver(self, message: Any, queue: str) -> None:
        if queue not in QUEUES or is_ours(message):
            super()._deliver(message, queue)  # type: ignore[no-untyped-call]
        else:
            log.warning("A message in the queue %s is not ours, and was dropped: %.500r", queue, message)

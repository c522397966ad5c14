"""The ASGI application that gunicorn serves: a front that receives the bodies, and Django's application behind it."""

from django.conf import settings

from config.serving.client import Pace
from config.serving.front import Front, Limits
from config.wsgi import application as pages

application = Front(
    pages,
    Limits(
        threads=settings.WEB_THREADS,
        pace=Pace(settings.BODY_MIN_BYTES_PER_SECOND, settings.BODY_GRACE_SECONDS),
        body_bytes=settings.DATA_UPLOAD_MAX_MEMORY_SIZE,
        announced_bytes=settings.UPLOAD_PART_BYTES,
    ),
)

"""The ASGI application that gunicorn serves: a front that receives the bodies, and Django's application behind it."""

from importlib import import_module
from pkgutil import walk_packages

from django.conf import settings

from config import garbage
from config.serving.client import Pace
from config.serving.front import Front, Limits
from config.serving.wsgi_call import Application


def _pages() -> Application:
    """Django's application, and all that its pages import: otherwise the first request would wait for that."""
    garbage.pause()
    from config.wsgi import application

    import_module(settings.ROOT_URLCONF)
    garbage.resume()
    return application


def _warm() -> None:
    """Import what previews, plans and checks import when they need it."""
    for package in ("importer.engine", "importer.connections", "importer.preparation"):
        for each in walk_packages(import_module(package).__path__, f"{package}."):
            if each.name.replace(".", "").isidentifier():  # Not a C library.
                import_module(each.name)


application = Front(
    _pages(),
    Limits(
        threads=settings.WEB_THREADS,
        pace=Pace(settings.BODY_MIN_BYTES_PER_SECOND, settings.BODY_GRACE_SECONDS),
        body_bytes=settings.DATA_UPLOAD_MAX_MEMORY_SIZE,
        announced_bytes=settings.UPLOAD_PART_BYTES,
        session_cookie=settings.SESSION_COOKIE_NAME,
        errands=max(settings.WEB_THREADS, 2 * settings.ERRANDS_AT_ONCE),
        errand_bytes=settings.ERRAND_BYTES,
        warm=_warm,
    ),
)

"""Where the web server listens, and how this machine reaches it."""

import errno
import json
import os
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.conf import settings

from config.environment import port_file, private_folder
from importer.management.processes.private_servers import why_taken
from importer.management.processes.supervision import CannotStart

ANY_ADDRESS = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 (compared, not bound)
# Settings of a proxy in the environment are for other hosts.
_OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def use_port(port: int) -> None:
    """Serve on this port, whichever one the environment names."""
    os.environ["PORT"] = str(port)
    settings.PORT = port


@contextmanager
def recorded_port() -> Iterator[None]:
    """Record the port in VAR_DIR while the block runs: other commands print links with it."""
    path = port_file(settings.VAR_DIR)
    private_folder(path.parent)
    path.write_text(str(settings.PORT))
    try:
        yield
    finally:
        path.unlink(missing_ok=True)


def listening() -> str:
    """What the web server binds: BIND and PORT."""
    return _with_port(settings.BIND)


def address() -> str:
    """The address of the pages, as this machine reaches them."""
    return f"http://{_with_port(ANY_ADDRESS.get(settings.BIND, settings.BIND))}/"


def require_free_port() -> None:
    """Raise CannotStart if the web server cannot listen on BIND and PORT."""
    reason = why_taken(settings.PORT, settings.BIND)
    if not reason:
        return
    other = f"Choose another one: --port {settings.PORT + 1}, or PORT={settings.PORT + 1} with make."
    if reason.errno == errno.EADDRINUSE:
        raise CannotStart(f"Port {settings.PORT} is taken by another program.", advice=other)
    if reason.errno == errno.EACCES:
        raise CannotStart(
            f"Only root may listen on port {settings.PORT}.", advice="Choose one from 1024 on: --port 8000"
        )
    raise CannotStart(
        f"The web server cannot listen on {settings.BIND}: {reason.strerror}.",
        advice="Set BIND to an address of this machine: 127.0.0.1 for itself alone, 0.0.0.0 for each IPv4 address.",
    )


def health() -> dict[str, Any]:
    """The content of /healthz; empty while the web server does not answer."""
    # The site answers to this name always, to that of another address only if ALLOWED_HOSTS has it.
    request = urllib.request.Request(f"{address()}healthz", headers={"Host": "127.0.0.1"})  # noqa: S310 (always http)
    try:
        with _OPENER.open(request, timeout=5) as answer:
            state = json.load(answer)
    except (OSError, ValueError):
        return {}
    assert isinstance(state, dict)
    return state


def _with_port(host: str) -> str:
    return f"[{host}]:{settings.PORT}" if ":" in host else f"{host}:{settings.PORT}"

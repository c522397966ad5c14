"""Millrace itself, as `make run` runs it: set up in a folder of the benchmark's own, with its processes."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.servers import Server
from scripts.servers import free_port


def set_up(folder: Path) -> Path:
    """Set the application up with its state in a new folder below `folder`, and give that.

    So no import of the benchmark shows up in anybody's list, and none of an earlier run tells the planner anything.
    """
    import django

    folder.mkdir(parents=True, exist_ok=True)
    state = Path(tempfile.mkdtemp(prefix="millrace-", dir=folder.resolve()))
    os.environ["VAR_DIR"] = str(state)
    os.environ["PORT"] = str(free_port())
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    # Its log goes where the figures do not.
    os.environ.setdefault("LOG_LEVEL", "WARNING")
    django.setup()
    return state


@contextmanager
def serving() -> Iterator[int]:
    """All processes up and working; gives the id of the one above them. They are gone again afterwards."""
    from scripts import run

    with run.serving() as supervisor:
        assert supervisor.process
        yield supervisor.process.pid


def saved_target(server: Server):
    """The server as a checked target that imports can name."""
    from importer import targets
    from importer.models import Target

    address = server.address
    target, _ = Target.objects.update_or_create(
        name=server.name,
        defaults={
            "host": address.host,
            "port": address.port,
            "user": address.user,
            "database": address.database,
            "tls": "off",
        },
    )
    if address.password:
        target.set_password(address.password)
        target.save()
    targets.check(target)
    return target

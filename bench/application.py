"""Sets Millrace up in a folder of the benchmark's own and runs its processes, as `make run` does."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bench.servers import Server
from importer.management.processes.private_servers import free_port


def set_up(folder: Path) -> Path:
    """Set the application up with its state in a new folder below `folder`; return that folder.

    So the imports of the benchmark appear in no user's list, and earlier runs do not influence the planner.
    """
    import django

    folder.mkdir(parents=True, exist_ok=True)
    state = Path(tempfile.mkdtemp(prefix="millrace-", dir=folder.resolve()))
    os.environ["VAR_DIR"] = str(state)
    os.environ["PORT"] = str(free_port())
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    os.environ.setdefault("LOG_LEVEL", "WARNING")
    django.setup()
    return state


@contextmanager
def serving() -> Iterator[int]:
    """Start all processes, yield the pid of their supervisor, and stop them at the end."""
    from importer.management.processes.serving import serving as all_processes

    with all_processes() as supervisor:
        assert supervisor.process
        yield supervisor.process.pid


def saved_target(server: Server) -> Any:
    """Save the server as a target, check it, and return it."""
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

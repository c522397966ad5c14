"""The private database server of the demo. `python -m scripts.servers` becomes it, in the folder of VAR_DIR."""

import os
from pathlib import Path

from importer.management.processes.private_databases import PrivateDatabase, PrivateMariaDB, PrivateMySQL, path_of
from importer.management.processes.private_servers import free_port


def private_database(folder: Path, *, new_port: bool = False) -> PrivateDatabase:
    """The private database of `folder`, on the port stored there; `new_port` chooses and stores another one.

    It is a MariaDB, or a MySQL on a machine without MariaDB. Each has a data folder of its own.
    """
    kind = PrivateMariaDB if path_of("mariadbd") else PrivateMySQL
    folder = folder / kind.label.lower()
    port_file = folder / "port"
    if new_port or not port_file.exists():
        folder.mkdir(parents=True, exist_ok=True)
        port_file.write_text(str(free_port()))
    return kind(folder, port=int(port_file.read_text()))


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    from django.conf import settings

    from importer.management.processes.command_lines import become

    become(private_database(settings.VAR_DIR / "database").command())

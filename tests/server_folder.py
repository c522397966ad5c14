"""A folder that a test server loads files from."""

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from importer.engine.mysql.connection import Address, connect, execute, fetch_all


def file_for(address: Address, folder: Path, data: bytes) -> Path:
    """A file with these bytes in the server's secure_file_priv, or in `folder` if it loads from anywhere."""
    with connect(address) as connection:
        allowed = fetch_all(connection, "SELECT @@secure_file_priv")[0][0]
    path = Path(allowed or folder) / f"{uuid.uuid4().hex}.csv"
    path.write_bytes(data)
    path.chmod(0o644)
    return path


@contextmanager
def largest_packet(address: Address, size: int) -> Iterator[None]:
    """New sessions have this max_allowed_packet."""
    with connect(address) as connection:
        usual = fetch_all(connection, "SELECT @@GLOBAL.max_allowed_packet")[0][0]
        execute(connection, f"SET GLOBAL max_allowed_packet = {size}")
        try:
            yield
        finally:
            execute(connection, f"SET GLOBAL max_allowed_packet = {usual}")

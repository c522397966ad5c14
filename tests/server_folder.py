"""A folder that a test server loads files from."""

import uuid
from pathlib import Path

from importer.engine.mysql.connection import Address, connect, fetch_all


def file_for(address: Address, folder: Path, data: bytes) -> Path:
    """A file with these bytes in the server's secure_file_priv, or in `folder` if it loads from anywhere."""
    with connect(address) as connection:
        allowed = fetch_all(connection, "SELECT @@secure_file_priv")[0][0]
    path = Path(allowed or folder) / f"{uuid.uuid4().hex}.csv"
    path.write_bytes(data)
    path.chmod(0o644)
    return path

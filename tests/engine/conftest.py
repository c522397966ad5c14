"""What several of the engine's tests need."""

from pathlib import Path

import pytest


@pytest.fixture
def source(tmp_path):
    """A function that writes a file and gives its path."""

    def write(content: bytes | str, name: str = "data.csv") -> Path:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write

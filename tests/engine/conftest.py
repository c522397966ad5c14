"""Fixtures of several of the engine's tests."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from importer.engine.native import loader


@pytest.fixture
def source(tmp_path):
    """A function that writes a file and returns its path."""

    def write(content: bytes | str, name: str = "data.csv") -> Path:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write


@pytest.fixture(scope="module", params=list(loader.BUILDS))
def each_build(request: pytest.FixtureRequest) -> Iterator[None]:
    """The C library's build for any processor, then its build for newer processors, if this is one."""
    library = loader.load(request.param)
    if request.param == "newer" and not (library and library.is_newer()):
        pytest.skip("this is no newer processor, or the library is not compiled for them")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loader, "library", lambda: library)
        loader.function.cache_clear()
        yield
    loader.function.cache_clear()

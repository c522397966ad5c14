"""Compiled code: the library is there, current, and right for this processor; numpy starts no threads."""

import fnmatch
import os
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from importer.engine.native import loader

CPUINFO = Path("/proc/cpuinfo")
# What says which library it is, and a source that changes.
COPIED = {"library_info.c", "digits.c"}
needs_compiler = pytest.mark.skipif(not shutil.which(loader.COMPILER[0]), reason="no compiler here")


@pytest.fixture
def copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Path]:
    """The loader on a copy of two sources, without a library. A function that puts the library of a build there.

    Two sources, without optimisation, take a twentieth of the time of all: nothing is computed with them.
    """
    shutil.copytree(loader.SOURCES, tmp_path / "src", ignore=lambda _, names: {*fnmatch.filter(names, "*.c")} - COPIED)
    monkeypatch.setattr(loader, "FOLDER", tmp_path)
    monkeypatch.setattr(loader, "SOURCES", tmp_path / "src")
    for build, flags in loader.BUILDS.items():
        monkeypatch.setitem(loader.BUILDS, build, (*flags, "-O0"))

    def compiled(build: str) -> Path:
        loader.compile_library(build, loader.library_file(build))
        return loader.library_file(build)

    return compiled


def test_the_library_is_compiled_where_there_is_a_compiler():
    assert loader.library() or not shutil.which(loader.COMPILER[0])


@pytest.mark.skipif(not loader.library() or not CPUINFO.exists(), reason="not compiled here, or not on Linux")
def test_newer_processors_use_the_build_for_them():
    flags = set(re.findall(r"\b(?:avx2|bmi1|bmi2|popcnt)\b", CPUINFO.read_text()))
    build = "newer" if len(flags) == 4 else "any"
    library = loader.library()
    assert library
    assert library._name == os.fspath(loader.library_file(build))
    assert loader.build_in_use() == build


def test_without_the_library_no_build_is_in_use(monkeypatch):
    monkeypatch.setattr(loader, "library", lambda: None)
    assert loader.build_in_use() is None


@needs_compiler
def test_a_library_of_the_present_sources_is_loaded(copy):
    assert loader.load("any") is None
    copy("any")
    library = loader.load("any")
    assert library
    assert library.source_digest() == loader.source_digest("any").encode()


@needs_compiler
@pytest.mark.parametrize("change", ["edited", "added", "removed"])
def test_a_library_of_other_sources_is_not_loaded(copy, change):
    copy("any")
    source = loader.SOURCES / "digits.c"
    if change == "edited":
        source.write_text(source.read_text() + "\n")
    elif change == "added":
        (loader.SOURCES / "more.c").write_text("")
    else:
        source.unlink()
    assert loader.load("any") is None


@needs_compiler
def test_a_library_compiled_with_other_flags_is_not_loaded(copy, monkeypatch):
    copy("any")
    monkeypatch.setitem(loader.BUILDS, "any", (*loader.FLAGS, "-DOTHER"))
    assert loader.load("any") is None


@needs_compiler
@pytest.mark.skipif(platform.machine() != "x86_64", reason="there is one build only for this processor")
def test_a_build_in_the_place_of_another_one_is_not_loaded(copy):
    copy("newer").rename(loader.library_file("any"))
    assert loader.load("any") is None


@needs_compiler
def test_a_library_that_does_not_say_what_it_is_is_not_loaded(copy, tmp_path):
    (tmp_path / "other.c").write_text("int is_newer(void) { return 1; }")
    subprocess.run(
        [*loader.COMPILER, "-shared", "-fPIC", "-o", loader.library_file("any"), tmp_path / "other.c"], check=True
    )
    assert loader.load("any") is None


def test_a_damaged_library_is_not_loaded(copy):
    loader.library_file("any").write_bytes(b"\x7fELF")
    assert loader.load("any") is None


@pytest.fixture
def one_build(copy, monkeypatch: pytest.MonkeyPatch) -> None:
    """The loader compiles one build only: each is compiled in the same way."""
    monkeypatch.delitem(loader.BUILDS, "newer")
    monkeypatch.setattr(loader, "build_for_this_processor", lambda: "any")
    monkeypatch.setattr(loader, "current_library", lambda: loader.load("any"))


@needs_compiler
@pytest.mark.usefixtures("one_build")
def test_an_outdated_library_is_compiled_again(copy):
    path = copy("any")
    before = path.stat().st_mtime_ns
    assert loader.main([]) == 0
    assert path.stat().st_mtime_ns == before
    source = loader.SOURCES / "digits.c"
    source.write_text(source.read_text() + "\n")
    assert loader.main([]) == 0
    assert path.stat().st_mtime_ns > before
    # Read, not loaded: a process that has a library open gets the same one again.
    assert loader.source_digest("any").encode() in path.read_bytes()


def test_without_a_compiler_it_says_so_and_goes_on(copy, monkeypatch, capsys):
    monkeypatch.setattr(loader, "COMPILER", ["/nonexistent"])
    assert loader.main([]) == 0
    assert "works without it" in capsys.readouterr().out
    assert loader.main(["--strict"]) == 1


@needs_compiler
def test_only_the_build_for_this_processor_is_compiled(copy):
    build = loader.build_for_this_processor()
    assert loader.main([]) == 0
    assert [each for each in loader.BUILDS if loader.library_file(each).exists()] == [build]
    found = loader.current_library()
    assert found
    assert found._name == os.fspath(loader.library_file(build))
    assert loader.main(["--all"]) == 0
    assert [each for each in loader.builds_here() if not loader.library_file(each).exists()] == []


@needs_compiler
@pytest.mark.usefixtures("one_build")
def test_only_our_own_checks_take_warnings_for_errors(copy):
    source = loader.SOURCES / "digits.c"
    source.write_text(source.read_text() + "static int unused(int argument) { return 1; }\n")
    assert loader.main(["--strict"]) == 1
    assert loader.main([]) == 0


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="not on Linux")
def test_numpy_starts_no_threads():
    program = "import os, importer.engine, numpy; print(len(os.listdir('/proc/self/task')))"
    environment = {name: value for name, value in os.environ.items() if name != "OPENBLAS_NUM_THREADS"}
    program_run = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True
    )
    assert program_run.stdout.strip() == "1"

"""Compiles the C library (src/), finds it, and loads it.

`python -I importer/engine/native/loader.py` compiles it in place, as scripts/setup.sh does; setup.py does the same for
`pip install`. There are two builds: for any processor, and for newer ones. In place only the one for this processor is
compiled; with --all both, for an image that other machines run. A library says from which sources and with
which flags it was compiled, so an outdated one is never used. Without the library everything works, but more slowly.
"""

import ctypes
import hashlib
import os
import platform
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
SOURCES = FOLDER / "src"
COMPILER = shlex.split(os.environ.get("CC", "")) or ["cc"]
FLAGS = ("-std=gnu11", "-O3", "-shared", "-fPIC")
# Most x86-64 processors since 2013 have these (library_info.c checks). Enclosed fields scan 1.1 to 1.3 times as fast.
NEWER = ("-mavx2", "-mbmi", "-mbmi2", "-mpopcnt")
# Compiler flags by build: for any processor, or for newer ones.
BUILDS = {"any": FLAGS, "newer": (*FLAGS, *NEWER)}
# With this variable set, libraries that check each access to memory are compiled and loaded instead (.ci/run).
SANITIZED = "MILLRACE_NATIVE_SANITIZED"
SANITIZERS = ("-O1", "-g", "-fno-omit-frame-pointer", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
# For our own checks. Other compilers may warn of more, which is no reason to go without the library.
STRICT = ("-Wall", "-Wextra", "-Werror")


def flags_of(build: str) -> tuple[str, ...]:
    """The compiler flags of a build (BUILDS)."""
    return BUILDS[build] + (SANITIZERS if os.environ.get(SANITIZED) else ())


def library_file(build: str) -> Path:
    """The path of the library of a build (BUILDS)."""
    return FOLDER / f"libmillrace-{build}{'-sanitized' if os.environ.get(SANITIZED) else ''}.so"


def source_digest(build: str) -> str:
    """The digest of a build's flags and of all sources: 16 hexadecimal digits."""
    digest = hashlib.sha256(" ".join(flags_of(build)).encode())
    for source in sorted(SOURCES.rglob("*.[ch]")):
        digest.update(source.relative_to(SOURCES).as_posix().encode() + b"\0" + source.read_bytes())
    return digest.hexdigest()[:16]


@cache
def library() -> ctypes.CDLL | None:
    """The library in the best build for this processor; None without a library of the present sources."""
    return current_library()


def current_library() -> ctypes.CDLL | None:
    """As library(), looked for again in each call."""
    newer = load("newer")
    return newer if newer and newer.is_newer() else load("any")


def build_in_use() -> str | None:
    """The build (BUILDS) that this process uses; None without the library."""
    in_use = library()
    return next((build for build in BUILDS if in_use and in_use._name == os.fspath(library_file(build))), None)


def load(build: str) -> ctypes.CDLL | None:
    """The library of a build (BUILDS); None if it is missing, cannot be loaded, or is not of the present sources."""
    try:
        loaded = ctypes.CDLL(os.fspath(library_file(build)))
        loaded.source_digest.restype = ctypes.c_char_p
        return loaded if loaded.source_digest() == source_digest(build).encode() else None
    except (OSError, AttributeError):
        return None


@cache
def function(name: str, result: Any, *arguments: Any) -> Any:
    """The library's function of that name, with the ctypes of its result and arguments; None without the library."""
    loaded = library()
    if not loaded:
        return None
    native_function = getattr(loaded, name)
    native_function.restype, native_function.argtypes = result, arguments
    return native_function


def builds_here() -> list[str]:
    """The builds (BUILDS) that can be compiled for this machine."""
    return list(BUILDS) if platform.machine() in ("x86_64", "AMD64") else ["any"]


def build_for_this_processor() -> str:
    """The build (BUILDS) that library() looks for first, as compiled code says. Raises as compile_library() does."""
    with tempfile.TemporaryDirectory() as folder:
        probe = Path(folder, "probe.so")
        source = SOURCES / "library_info.c"
        subprocess.run([*COMPILER, "-shared", "-fPIC", '-DSOURCE_DIGEST=""', "-o", probe, source], check=True)
        return "newer" if ctypes.CDLL(os.fspath(probe)).is_newer() else "any"


def wanted_builds(*, every: bool) -> list[str]:
    """The builds (BUILDS) to compile: with `every` all that can be, else that for this processor if none is current."""
    if every:
        return builds_here()
    return [] if current_library() else [build_for_this_processor()]


def compile_library(build: str, to: Path, flags: Sequence[str] = ()) -> None:
    """Compile a build to a file. Raises OSError without a compiler, CalledProcessError if compiling fails."""
    to.parent.mkdir(parents=True, exist_ok=True)
    digest = f'-DSOURCE_DIGEST="{source_digest(build)}"'
    # Renamed when complete: other processes may compile or load it at the same time.
    with tempfile.TemporaryDirectory(dir=to.parent) as folder:
        unfinished = Path(folder, to.name)
        sources = sorted(SOURCES.rglob("*.c"))
        subprocess.run([*COMPILER, *flags_of(build), *flags, digest, "-o", unfinished, *sources], check=True)
        unfinished.replace(to)


def main(arguments: list[str]) -> int:
    """Compile what is missing or outdated: for this processor, with --all for any.

    With --strict, compile all, and fail on a warning or without a compiler.
    """
    strict = "--strict" in arguments
    try:
        for build in wanted_builds(every=strict or "--all" in arguments):
            if strict or not load(build):
                compile_library(build, library_file(build), STRICT if strict else ())
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"The C library cannot be compiled ({error}); Millrace works without it, but more slowly.")
        return int(strict)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

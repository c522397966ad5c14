"""Finds and compiles the C library (src/).

`python -I importer/engine/native/loader.py` compiles it, as scripts/setup.sh does: once for any processor and once for
newer ones. The library lies in the virtual environment under the digest of its sources, so an outdated one is never
loaded. Without it everything works, but more slowly.
"""

import ctypes
import hashlib
import os
import platform
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).with_name("src")
COMPILER = os.environ.get("CC", "cc")
FLAGS = ("-std=gnu11", "-O3", "-shared", "-fPIC")
# Most x86-64 processors since 2013 have it (native/src/processor.c asks): quoted fields scan 1.1 to 1.3 times as fast.
NEWER = ("-mavx2", "-mbmi", "-mbmi2", "-mpopcnt")
# Compiler flags by what the processor is.
BUILDS = {"any": FLAGS, "newer": (*FLAGS, *NEWER)}


def library_file(processor: str) -> Path:
    """Where the library of the present sources belongs that is compiled for such processors (BUILDS)."""
    digest = hashlib.sha256(" ".join(BUILDS[processor]).encode())
    for source in sorted(FOLDER.glob("*.[ch]")):
        digest.update(source.name.encode() + b"\0" + source.read_bytes())
    return Path(sys.prefix, "lib", f"millrace-native-{processor}-{digest.hexdigest()[:16]}.so")


@cache
def library() -> ctypes.CDLL | None:
    """The library, as compiled for this processor if it is; None if it has not been compiled here."""
    for_any = opened("any")
    return (opened("newer") if for_any and for_any.is_newer() else None) or for_any


def opened(processor: str) -> ctypes.CDLL | None:
    """The library that is compiled for such processors; None if it has not been."""
    try:
        return ctypes.CDLL(os.fspath(library_file(processor)))
    except OSError:
        return None


@cache
def function(name: str, result: Any, *arguments: Any) -> Any:
    """The library's function of that name, with the types (ctypes) of its result and its arguments; None without it."""
    found = library()
    if not found:
        return None
    called = getattr(found, name)
    called.restype, called.argtypes = result, arguments
    return called


def build(processor: str) -> None:
    """Compile the library, unless it is there. Raises OSError without a compiler, CalledProcessError if that fails."""
    made = library_file(processor)
    if made.exists():
        return
    made.parent.mkdir(parents=True, exist_ok=True)
    # Whole or not there, whoever else is compiling it.
    with tempfile.TemporaryDirectory(dir=made.parent) as folder:
        unfinished = Path(folder, made.name)
        subprocess.run([COMPILER, *BUILDS[processor], "-o", unfinished, *sorted(FOLDER.glob("*.c"))], check=True)
        unfinished.replace(made)


if __name__ == "__main__":
    try:
        build("any")
        if platform.machine() in ("x86_64", "AMD64"):
            build("newer")
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"The fast scan cannot be compiled ({error}); Millrace works without it, only slower.")

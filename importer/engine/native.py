"""The C (c/): where their compiled library lies, and how it is made. This file runs by itself, too.

`python -I importer/engine/native.py` compiles it, as scripts/setup.sh does. It lies in the virtual environment, by the
digest of its sources: an old one is never taken for the present one. Without it everything works, only slower.
"""

import ctypes
import hashlib
import os
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).with_name("c")
COMPILER = os.environ.get("CC", "cc")
FLAGS = ("-std=gnu11", "-O3", "-shared", "-fPIC")


def library_file() -> Path:
    """Where the compiled library of the present sources belongs."""
    digest = hashlib.sha256()
    for source in sorted(FOLDER.glob("*.[ch]")):
        digest.update(source.name.encode() + b"\0" + source.read_bytes())
    return Path(sys.prefix, "lib", f"millrace-native-{digest.hexdigest()[:16]}.so")


@cache
def library() -> ctypes.CDLL | None:
    """The library; None if it has not been compiled here."""
    try:
        return ctypes.CDLL(os.fspath(library_file()))
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


def build() -> None:
    """Compile the library, unless it is there. Raises OSError without a compiler, CalledProcessError if that fails."""
    made = library_file()
    if made.exists():
        return
    made.parent.mkdir(parents=True, exist_ok=True)
    # Whole or not there, whoever else is compiling it.
    with tempfile.TemporaryDirectory(dir=made.parent) as folder:
        unfinished = Path(folder, made.name)
        subprocess.run([COMPILER, *FLAGS, "-o", unfinished, *sorted(FOLDER.glob("*.c"))], check=True)
        unfinished.replace(made)


if __name__ == "__main__":
    try:
        build()
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"The fast scan cannot be compiled ({error}); Millrace works without it, only slower.")

"""Runs a program in this process, and writes what of Millrace it executes.

    python -m tests.executed OUTPUT PROGRAM ARGUMENTS

OUTPUT gets two lines of JSON: the functions that were called, as "path function" in the order of their first call, and
the files that were executed, those that were only imported among them.
"""

import atexit
import inspect
import json
import runpy
import sys
import threading
from pathlib import Path
from types import FrameType

ROOT = Path(__file__).resolve().parent.parent
PARTS = ("config/", "importer/", "dashboard/", "millrace_client/")


def _own(filename: str) -> str:
    """The path of a file of ours below the root; "" for others."""
    path = filename.removeprefix(f"{ROOT}/")
    return path if path.startswith(PARTS) else ""


def main() -> None:
    output, program = Path(sys.argv[1]).absolute(), sys.argv[2]
    called: dict[str, None] = {}

    def note(frame: FrameType, event: str, _argument: object) -> None:
        code = frame.f_code
        # The bodies of modules and classes are no functions.
        if event == "call" and code.co_flags & inspect.CO_OPTIMIZED and (path := _own(code.co_filename)):
            called.setdefault(f"{path} {code.co_name}")

    def write() -> None:
        sys.setprofile(None)
        loaded = {_own(getattr(module, "__file__", None) or "") for module in list(sys.modules.values())}
        output.write_text(f"{json.dumps(list(called))}\n{json.dumps(sorted(loaded - {''}))}\n")

    atexit.register(write)
    sys.argv = sys.argv[2:]
    threading.setprofile(note)
    sys.setprofile(note)
    runpy.run_path(program, run_name="__main__") if program.endswith(".py") else runpy.run_module(
        program, run_name="__main__", alter_sys=True
    )


if __name__ == "__main__":
    main()

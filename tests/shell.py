"""Runs command lines as a shell does, each in a process of its own, without importing Django for each.

One process has imported Django, and forks for each line. That takes a tenth of the time of starting `manage.py`.
"""

import json
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from tests.documents import check_output
from tests.stack import PYTHON, ROOT

# Runs below one process: reads command lines, and answers each with status and output.
SERVER = """
import json, os, sys, tempfile, traceback
from config import garbage
garbage.pause()
import django
from django.core.management import get_commands, load_command_class
from config.command_line import main
django.setup()
for name, application in get_commands().items():
    if application.split(".")[0] == "importer":
        load_command_class(application, name)
garbage.resume()

def run(line, out, err):
    os.setsid()
    for descriptor, target in ((os.open(os.devnull, os.O_RDONLY), 0), (out.fileno(), 1), (err.fileno(), 2)):
        os.dup2(descriptor, target)
    sys.argv = ["manage.py", *line]
    status = 0
    try:
        main()
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else int(end.code is not None)
        if isinstance(end.code, str):
            print(end.code, file=sys.stderr)
    except BaseException:
        traceback.print_exc()
        status = 1
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)

for text in sys.stdin:
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        child = os.fork()
        if not child:
            run(json.loads(text), out, err)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        answer = [status]
        for file in (out, err):
            file.seek(0)
            answer.append(file.read().decode())
    print(json.dumps(answer), flush=True)
"""


@dataclass(frozen=True)
class Ended:
    """A command that has ended."""

    returncode: int
    stdout: str
    stderr: str


class Shell:
    """Runs `manage.py` with the given environment, without a terminal."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def manage(self, *line: str, check: bool = True) -> Ended:
        """Run `manage.py`."""
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(json.dumps(line) + "\n")
        self._process.stdin.flush()
        ended = Ended(*json.loads(self._process.stdout.readline()))
        assert not check or ended.returncode == 0, ended.stdout + ended.stderr
        check_output(line, ended.stdout)
        return ended


@contextmanager
def running_shell(env: Mapping[str, str]) -> Iterator[Shell]:
    """A shell for this environment."""
    with subprocess.Popen(
        [str(PYTHON), "-c", SERVER], cwd=ROOT, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        yield Shell(process)

"""An installation of its own: a VAR_DIR, and a database of the application."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from config.contracts.outcomes import REFUSED, UNKNOWN
from tests.prepared import make_tables
from tests.shell import Shell, running_shell
from tests.stack import ROOT

OWN = ("VAR_DIR", "DATABASE_URL", "ENCRYPTION_KEYS", "SECRET_KEY", "DJANGO_SETTINGS_MODULE")


def ended(process: subprocess.Popen[str]) -> tuple[str, str]:
    """What the process has written, once it has ended."""
    try:
        return process.communicate(timeout=120)
    finally:
        process.kill()


class Installation:
    """Runs `manage.py` on it, in processes of their own."""

    def __init__(self, folder: Path, database_url: str = "", **env: str) -> None:
        self.folder, self.var = folder, folder / "var"
        others = {name: value for name, value in os.environ.items() if name not in OWN}
        own = {"VAR_DIR": str(self.var), "DATABASE_URL": database_url, "DJANGO_SETTINGS_MODULE": "config.settings"}
        self.env = others | own | env
        # Bytes, as if the disk were full then; 0 for no limit.
        self.largest_file = 0

    @classmethod
    def with_tables(cls, folder: Path, database_url: str = "", **env: str) -> "Installation":
        """An installation whose database has all tables, and nothing in them."""
        make_tables(folder / "var", database_url)
        return cls(folder, database_url, **env)

    def start(self, *line: str) -> subprocess.Popen[str]:
        """Start the command, without waiting for its end."""
        limit = f"ulimit -f {self.largest_file // 1024};" if self.largest_file else ""
        return subprocess.Popen(
            ["bash", "-c", f'{limit} exec "$@"', "bash", sys.executable, "manage.py", *line],
            cwd=ROOT,
            env=self.env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def manage(self, *line: str) -> str:
        """What the command prints. It must succeed."""
        process = self.start(*line)
        out, err = ended(process)
        assert process.returncode == 0, err
        return out + err

    def refused(self, *line: str) -> str:
        """Why the command is refused."""
        process = self.start(*line)
        _, err = ended(process)
        # Without usable tables of its own no command can begin.
        assert process.returncode in (REFUSED.exit_code, UNKNOWN), err
        assert "Traceback" not in err
        return err

    def python(self, code: str) -> Any:
        """The value of `answer` after the code has run in the installation, by way of JSON."""
        out, err = ended(self.start(*_line_of(code)))
        assert out, err
        return json.loads(out.splitlines()[-1])

    @contextmanager
    def shell(self) -> Iterator["InstallationShell"]:
        """Runs its commands with less processor time, while its settings and keys stay as they are."""
        with running_shell(self.env) as started:
            yield InstallationShell(started)


class InstallationShell:
    """Runs `manage.py` on an installation, in processes that one process of it forks."""

    def __init__(self, shell: Shell) -> None:
        self._shell = shell

    def manage(self, *line: str) -> str:
        """What the command prints. It must succeed."""
        done = self._shell.manage(*line)
        return done.stdout + done.stderr

    def refused(self, *line: str) -> str:
        """Why the command is refused."""
        done = self._shell.manage(*line, check=False)
        assert done.returncode == REFUSED.exit_code, done.stderr
        return done.stderr

    def python(self, code: str) -> Any:
        """The value of `answer` after the code has run in the installation, by way of JSON."""
        return json.loads(self._shell.manage(*_line_of(code)).stdout.splitlines()[-1])


def _line_of(code: str) -> list[str]:
    """The command line that runs the code, and prints the value of `answer`."""
    return ["shell", "-v0", "--no-imports", "-c", f"{code}\nimport json; print(json.dumps(answer))"]

"""The API of the server that `--server` names."""

import time
from collections.abc import Callable

from importer.management.terminal.words import PROGRAM
from millrace_client.api import Json, Millrace
from millrace_client.problems import ServerUnreachable

LOOK_AFTER = 1.0  # seconds, in which what a server does can be seen (docs/waiting.md)


class There(Millrace):
    """The client, with advice for a command line."""

    @property
    def prefix(self) -> str:
        """The beginning of a command line for the same server."""
        return f"{PROGRAM} --server {self.address}"

    def wait(self, job: int, look: Callable[[Json], None] = lambda _: None) -> Json:
        """The report of an import once it is over. A lost connection says that the import continues: to try the
        command again would load the files twice.
        """
        try:
            return super().wait(job, look)
        except ServerUnreachable as away:
            raise self.continuing(away, job) from None

    def continuing(self, away: ServerUnreachable, job: int) -> ServerUnreachable:
        """The problem, with how to wait for the import again."""
        again = f"{self.prefix} job wait {job} waits for it again"
        away.advice = f"Import {job} continues. Once the server answers, {again}."
        return away

    def causes(self, job: int) -> Json:
        """Why an import waits or is slow now."""
        self.call("causes", job=job)  # The first request lets Millrace look at the target.
        time.sleep(LOOK_AFTER)
        found: Json = self.call("causes", job=job)
        return found

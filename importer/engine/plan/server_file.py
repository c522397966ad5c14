"""A file on the database's host, which the server reads itself."""

from dataclasses import dataclass

# Seconds for which the server sends nothing while it reads a file, and for which it waits while this process reads one
# between two statements. The step's heartbeat kills the connection when the load must stop.
LONGEST_SILENCE = 12 * 3600


@dataclass(frozen=True)
class ServerFile:
    """A file as the plan knows it.

    `path` is its path on the database's host. The `skipped_lines` above its records are not loaded. `digest` is the
    SHA-256 of its bytes as the server sees them, hexadecimal; "" for a file that is larger than the server shows.
    """

    path: str
    skipped_lines: int = 0
    digest: str = ""

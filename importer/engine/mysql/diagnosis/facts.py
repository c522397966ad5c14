"""What the application knows about an import, in plain values."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

_ERROR = re.compile(r"\(error (\d+)\)")


@dataclass(frozen=True)
class Workers:
    """The workers and the queue. `seconds`: how long the import's next work has waited for one, None if none waits.

    `served`: whether a worker takes such work, None if nobody knows. `places`: the chunks that the workers can load in
    parallel, 0 if nobody knows; `taken`: those that they load now, of all imports. `older`: the names and versions of
    the live workers if all of them are of an older release than the one that planned the import, else empty. `label`:
    the workers are those with the target's label, "" for those without one.
    """

    seconds: float | None = None
    served: bool | None = None
    places: int = 0
    taken: int = 0
    older: tuple[str, ...] = ()
    label: str = ""


@dataclass(frozen=True)
class Sessions:
    """Parallel chunks: as `asked`, as `running`; the target's `ceiling`, and those running into it, `on_target`.

    `pending`: chunks that nobody has begun.
    """

    asked: int = 0
    running: int = 0
    ceiling: int = 0
    on_target: int = 0
    pending: int = 0


@dataclass(frozen=True)
class Recent:
    """The chunks that were loaded last: how many, their bytes and rows, and their seconds by phase, summed.

    `phases` are those of Chunk.timings: connect, ledger, review, load, verify, commit.
    """

    chunks: int = 0
    bytes: int = 0
    rows: int = 0
    phases: Mapping[str, float] = field(default_factory=dict)

    def share(self, *phases: str) -> float:
        """The share of these phases in the time of all; 0 without chunks."""
        whole = sum(self.phases.values())
        return sum(self.phases.get(each, 0) for each in phases) / whole if whole else 0


@dataclass(frozen=True)
class Facts:
    """An import as the application knows it.

    `connections`: its connections to the server. `others`: connections of other imports, with the import's number.
    `owner`: the import that has the table. `problem`: why the last attempt failed (Problem as JSON), if it is repeated.
    `arrived` of `size` bytes of an upload under way; `size` 0: all are there. `full_disk`: the folder of this machine
    whose disk is full. `network`: the bytes per second that one session can send, as the target's check measured.
    `busy`: the share of the time in which a loading worker computes, None if nobody knows. `age`: seconds since the
    import began. `low`: it has a low priority, so that it loads only while no other import waits. `left_to_command`:
    nobody works on it, and only a command has the server's password. `registered`: the target has a page, where it can
    be stored. `silent_since`: when a process last worked on it, if none does and no worker runs that would. `ahead`:
    the seconds by which its last record is ahead of the clock. `work`: what the table adds to each row, such as "3
    triggers". `still`: the seconds for which none of its bytes has moved although workers load it; 0 if nobody knows.
    """

    number: int = 0
    status: str = ""
    schema: str = ""
    table: str = ""
    target: str = ""
    connections: tuple[int, ...] = ()
    others: Mapping[int, int] = field(default_factory=dict)
    owner: int = 0
    workers: Workers = Workers()
    sessions: Sessions = Sessions()
    recent: Recent = field(default_factory=Recent)
    problem: Mapping[str, Any] = field(default_factory=dict)
    arrived: int = 0
    size: int = 0
    full_disk: str = ""
    network: float | None = None
    busy: float | None = None
    age: float = 0
    low: bool = False
    left_to_command: bool = False
    registered: bool = True
    silent_since: datetime | None = None
    ahead: float = 0
    work: tuple[str, ...] = ()
    still: float = 0

    @property
    def full_name(self) -> str:
        return f"{self.schema}.{self.table}"

    @property
    def error(self) -> int:
        """The number of the server's error in `problem`; 0 for none."""
        found = _ERROR.search(self.problem.get("what", ""))
        return int(found[1]) if found else 0

"""Problems: the exceptions for everything that can go wrong, each with what happened, where, and what to do next."""

import errno
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, Self, TypeGuard


@dataclass(frozen=True)
class BadRow:
    """A row that the server would have changed or skipped: line of the file (from 1), column, value and reason."""

    line: int
    column: str
    value: str
    reason: str
    code: int = 0


def how_to_install(package: str) -> str:
    """The advice to install an optional package for Millrace, however that was installed."""
    return f"Install it: pipx inject millrace {package}. In a checkout: .venv/bin/uv pip install {package}."


@dataclass
class Problem(Exception):
    """An error that stops an import or part of it.

    `what`: what happened. `where`: file, line, server. `advice`: what to do next. `retryable`: the step may succeed a
    little later (after a lost connection or a deadlock). `rows`: some of the rows at fault; `bad_rows`: the number of
    all of them. `option`: the field of Options at fault; pages show the problem next to that option.
    """

    what: str
    where: str = ""
    advice: str = ""
    retryable: bool = False
    rows: tuple[BadRow, ...] = field(default=())
    bad_rows: int = 0
    option: str = ""

    # The number of this kind of problem in reports, which scripts compare (docs/contracts.md). It never changes.
    code: ClassVar[int] = 1000

    def __str__(self) -> str:
        located = f"{self.where}: {self.what}" if self.where else self.what
        return f"{located} {self.advice}".strip()

    def as_json(self) -> dict[str, Any]:
        return {"kind": type(self).__name__, **asdict(self)}

    def after(self, attempts: int) -> Self:
        """The problem of the last of these attempts, for a reader who asks whether to try it again."""
        return self if attempts < 2 else replace(self, advice=f"It was tried {attempts} times. {self.advice}".strip())


@contextmanager
def in_file(name: str) -> Iterator[None]:
    """Put the name of a file before the place of each Problem, unless it is there."""
    try:
        yield
    except Problem as problem:
        name_file(problem, name)
        raise


def name_file(problem: Problem, name: str) -> None:
    """Put the name of a file before the place of the problem, unless it is there."""
    if not problem.where.startswith(name):
        problem.where = ", ".join(part for part in (name, problem.where) if part)


class SourceProblem(Problem):
    """The file cannot be read in the format that it claims to have."""

    code = 1100

    # The byte of the plain file at fault (from 0), where it is known; of a sample, the dialect that it was read in and
    # the lines around that byte (profile/fault_lines.py). They are for the page that asks for the format: not stored.
    at: int | None = None
    dialect: Any = None
    lines: tuple[Any, ...] = ()

    def at_byte(self, at: int) -> Self:
        """The problem, with the byte at fault."""
        self.at = at
        return self


class RecordUnreadable(SourceProblem):
    """A record of the file cannot be read safely; its neighbours can."""

    code = 1101


class SourceMissing(SourceProblem):
    """The file is not there, as far as this host sees: it was deleted, or its folder is not mounted here."""


class SourceChanged(SourceProblem):
    """The file has changed since the scan."""

    code = 1102


@dataclass
class LoadedBefore(Problem):
    """An import has loaded the content into the table already, and this one is to load it once (option once).

    `earlier`: that import (plan.previous_imports.EarlierLoad).
    """

    earlier: Any = None

    code = 1103


class LoadedInPart(Problem):
    """Another import of the content has not loaded all of it, and this one is to load it once (option once)."""

    code = 1104


class DiskFull(SourceProblem):
    """A disk has no room left, except what is kept free."""


# The errors of a full disk and of an exhausted quota of the account (write(2)).
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def is_of_full_disk(error: BaseException) -> TypeGuard[OSError]:
    """Whether the error says that a disk has no room, or that the account's quota is exhausted."""
    return isinstance(error, OSError) and error.errno in _FULL


@contextmanager
def full_disk_as(problem: Callable[[], DiskFull]) -> Iterator[None]:
    """Raise the problem instead of an OSError for a full disk."""
    try:
        yield
    except OSError as error:
        if not is_of_full_disk(error):
            raise
        raise problem() from error


def room_in_words(folder: Path, kept_free: int = 0, needed: int = 0, *, about: bool = False) -> str:
    """The file system of a folder, which need not exist yet, with its free bytes and the bytes to be kept free.

    `needed`: the bytes to be written, 0 if that is not known; `about`: they are an estimate.
    """
    place = next(each for each in (folder.resolve(), *folder.resolve().parents) if each.exists())
    mounted = next(each for each in (place, *place.parents) if each.is_mount())
    figures = [f"{shutil.disk_usage(place).free:,} bytes free"]
    figures += [f"{kept_free:,} to be kept free (KEEP_FREE_BYTES)"] if kept_free else []
    figures += [f"{'about ' if about else ''}{needed:,} needed"] if needed else []
    return f"The file system {mounted} has {', '.join(figures)}."


class NoConnection(SourceProblem):
    """The place of a file does not answer, is not the one that it should be, or refuses the account."""


class TargetProblem(Problem):
    """The server, the account or the table does not allow the operation."""

    code = 1200


class UnknownTable(TargetProblem):
    """There is no such table, or none that the account may see."""


class TableExists(TargetProblem):
    """The table that an import is to make is there already."""


class TargetUnreachable(TargetProblem):
    """No server answers there, or the connection to it was lost."""

    code = 1201


class RowsRefused(Problem):
    """The server would have changed or skipped rows of a chunk; no row of the chunk was stored."""

    code = 1300


class TooManyRejects(Problem):
    """More rows are rejected than max_rejects or max_reject_percent allows."""

    code = 1301


class TooManyChanges(Problem):
    """The file would change or delete more rows of the table than stop_if allows."""

    code = 1303


class NotAsSeen(Problem):
    """The table is no longer as it was when the file was compared with it, so what was seen is not applied."""

    code = 1304


class RowsChangedSince(Exception):
    """Rows of the table are not as they were when chunks were compared with them: stage these `chunks` again, whole."""

    def __init__(self, chunks: frozenset[int]) -> None:
        super().__init__(f"rows of the table have changed since chunks were compared with them: {sorted(chunks)}")
        self.chunks = chunks


class NotDecided(Problem):
    """Nobody has decided in time about what a limit of changes had stopped, so that its staged rows are dropped."""

    code = 1305


class AllRowsRejected(Problem):
    """The file has rows, and the target refused every one of them."""

    code = 1302


class Cancelled(Problem):
    """A user cancelled the work."""

    code = 1500


class Previewed(Cancelled):
    """The file was compared with the table, and nothing was to be changed."""


class ApprovalRefused(Problem):
    """Somebody refused the import, which needed another person's approval."""

    code = 1600


class UnderWayInBackup(Problem):
    """An import was under way when the backup was made that was restored: it may have loaded more rows since."""


class WrongUsage(Problem):
    """The command line has a word, an option or a value that the command does not take."""

    code = 1700


class NotPutBack(TargetProblem):
    """An import was ended although keys or variables that it had changed for its time are not as they were."""

    code = 1204


class NotDropped(TargetProblem):
    """A lab was ended although its scratch tables may still be there."""

    code = 1205


class MethodRefused(TargetProblem):
    """The server refuses the load method; another method may work."""

    code = 1202


class ProofBroken(TargetProblem):
    """Somebody has changed the ledger or the table during an import: which of its rows are in is not known."""

    code = 1206


def is_of_broken_proof(problem: Mapping[str, Any]) -> bool:
    """Whether a stored problem says that the recorded rows need not be in the table."""
    return problem.get("kind") == ProofBroken.__name__


def one_reason(problem: Mapping[str, Any]) -> str:
    """The reason of all rows at fault of the problem, which then says it without a value; "" if there are several."""
    reasons = {row["reason"] for row in problem["rows"]} if problem.get("kind") == RowsRefused.__name__ else set()
    return str(reasons.pop()) if len(reasons) == 1 else ""


def is_of_bad_rows(problem: Mapping[str, Any]) -> bool:
    """Whether a stored problem is one of rows that an import can leave out."""
    return problem.get("kind") in (RowsRefused.__name__, RecordUnreadable.__name__)


def problem_kinds(kind: type[Problem] = Problem) -> Iterator[type[Problem]]:
    """Every kind of problem. The first sentence of its docstring says to everybody what it means."""
    yield kind
    for narrower in kind.__subclasses__():
        yield from problem_kinds(narrower)


def problem_codes() -> dict[str, int]:
    """The code of each kind of problem by the kind's name, as stored problems have it."""
    return {kind.__name__: kind.code for kind in problem_kinds()}


def problem_values(values: Mapping[str, Any]) -> dict[str, Any]:
    """A stored problem as documents have it: with the code of its kind (docs/contracts.md)."""
    names = ("kind", "what", "where", "advice", "retryable", "rows", "bad_rows")
    return {"code": problem_codes().get(values["kind"], Problem.code), **{name: values.get(name) for name in names}}

"""Passwords that somebody gave a command for its own time: in the memory of its processes, never on a disk."""

from collections.abc import Mapping
from uuid import UUID

_held: dict[UUID, str] = {}


def hold(target: UUID, password: str) -> None:
    """Hold the password of the target with this key until the process ends, and in the processes that it forks."""
    _held[target] = password


def held(target: UUID) -> str | None:
    """The password that is held for the target; None without one."""
    return _held.get(target)


def all_held() -> dict[UUID, str]:
    """The passwords by the keys of their targets, for a process that this one starts without a fork."""
    return dict(_held)


def hold_all(passwords: Mapping[UUID, str]) -> None:
    """Hold these passwords: the result of all_held() in the process that started this one."""
    _held.update(passwords)

"""The person on whose behalf the code runs: of a request, of `--as`, or of a schedule. Nobody: the system itself."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from django.contrib.auth.models import AnonymousUser, User

Somebody = User | AnonymousUser
_acting: ContextVar[Somebody | None] = ContextVar("acting", default=None)
_address: ContextVar[str] = ContextVar("address", default="")


def acting() -> Somebody | None:
    """The person on whose behalf the code runs; None for workers and for commands without `--as`, which may do all."""
    return _acting.get()


def acting_user() -> User | None:
    """The signed-in person on whose behalf the code runs, who owns what it makes; None for the system."""
    user = _acting.get()
    return user if isinstance(user, User) else None


def acting_address() -> str:
    """The address that the person's request came from; "" without a request."""
    return _address.get()


@contextmanager
def acting_as(user: Somebody | None) -> Iterator[None]:
    """Run the block on behalf of a person."""
    token = _acting.set(user)
    try:
        yield
    finally:
        _acting.reset(token)


@contextmanager
def acting_from(address: str) -> Iterator[None]:
    """Run the block for a request from this address."""
    token = _address.set(address)
    try:
        yield
    finally:
        _address.reset(token)

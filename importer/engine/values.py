"""Dataclasses that compile nothing at import: those of the standard library took a third of a command's start.

They compile six methods of each class, of which a process uses few. Here `__init__` is compiled for the first instance,
and the other methods are closures. Everything else is as there, but for the options that nothing here needs, and for
`frozen`, which holds for the attributes of subclasses, too.
"""

import dataclasses
from collections.abc import Callable
from functools import partial
from operator import attrgetter
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any, NoReturn

__all__ = ["dataclass"]

if TYPE_CHECKING:
    from dataclasses import dataclass  # noqa: TID251
else:

    def dataclass(kind=None, /, *, frozen=False, eq=True, kw_only=False):
        """Make the class a dataclass, as dataclasses.dataclass() does."""
        return partial(_made, frozen, eq, kw_only) if kind is None else _made(frozen, eq, kw_only, kind)


def _made(frozen: bool, eq: bool, kw_only: bool, kind: type) -> type:
    dataclasses.dataclass(init=False, repr=False, eq=False, kw_only=kw_only)(kind)  # noqa: TID251
    methods: dict[str, Any] = {"__init__": _first_init(kind, frozen), "__repr__": _repr}
    if frozen:
        methods |= {"__setattr__": _refuse, "__delattr__": _refuse}
    if eq:
        equal, hashed = _equal_and_hash(kind)
        methods |= {"__eq__": equal, "__hash__": hashed if frozen else None}
    for name, method in methods.items():
        # Python itself sets __hash__ to None in a class with an __eq__ of its own.
        if vars(kind).get(name) is None:
            setattr(kind, name, method)
    return kind


def _first_init(kind: type, frozen: bool) -> Callable[..., None]:
    """An `__init__` that replaces itself, when it is first called, by the compiled one."""

    def init(self: Any, *values: Any, **named: Any) -> None:
        fields = [(each.name, each.type, each) for each in dataclasses.fields(kind)]
        # Without a description, one would be made of the signature.
        after = {"__doc__": kind.__name__, **({"__post_init__": None} if hasattr(kind, "__post_init__") else {})}
        twin = dataclasses.make_dataclass(kind.__name__, fields, namespace=after, repr=False, eq=False, frozen=frozen)
        compiled = vars(twin)["__init__"]
        kind.__init__ = compiled  # type: ignore[misc]
        compiled(self, *values, **named)

    return init


def _equal_and_hash(kind: type) -> tuple[Callable[[Any, object], bool], Callable[[Any], int]]:
    # Two names or more give a tuple, which takes an object for equal to itself.
    values = attrgetter("__class__", *(each.name for each in dataclasses.fields(kind) if each.compare))

    def equal(self: Any, other: object) -> bool:
        return values(self) == values(other) if other.__class__ is self.__class__ else NotImplemented

    def hashed(self: Any) -> int:
        return hash(values(self))

    return equal, hashed


def _refuse(_self: object, name: str, *_value: object) -> NoReturn:
    raise dataclasses.FrozenInstanceError(f"cannot assign to or delete field {name!r}")


@recursive_repr()
def _repr(self: Any) -> str:
    values = (f"{each.name}={getattr(self, each.name)!r}" for each in dataclasses.fields(self) if each.repr)
    return f"{type(self).__qualname__}({', '.join(values)})"

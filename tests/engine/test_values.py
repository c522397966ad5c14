"""Our dataclasses (importer/engine/values.py) are those of the standard library, and compile nothing at import."""

import dataclasses
import pickle
import sys
from collections.abc import Callable
from dataclasses import FrozenInstanceError, field
from typing import Any

import msgspec
import pytest

from importer.engine.values import dataclass

PAIRS = {"theirs": dataclasses.dataclass, "ours": dataclass}


def shapes(dataclass: Callable[..., Any]) -> list[Any]:
    """Values of classes that use what a dataclass can do."""

    @dataclass(frozen=True)
    class Point:
        x: float
        y: float = 2.0
        seen: int = field(default=7, compare=False)

    @dataclass(frozen=True)
    class Deep(Point):
        """Inherits fields."""

        names: tuple[str, ...] = ()
        hidden: str = field(default="secret", repr=False)

    @dataclass
    class Counts:
        each: list[int] = field(default_factory=list)
        total: int = field(init=False, default=0)

        def __post_init__(self) -> None:
            self.total = sum(self.each)

    @dataclass(frozen=True)
    class Own:  # noqa: PLW1641
        word: str

        def __eq__(self, other: object) -> bool:
            return isinstance(other, Own)

        def __repr__(self) -> str:
            return "own"

    @dataclass(frozen=True, kw_only=True)
    class Named:
        name: str

    @dataclass(eq=False)
    class Same:
        name: str

    @dataclass(frozen=True)
    class Empty:
        pass

    nan = float("nan")
    return [
        *(Point(1), Point(1, seen=3), Point(1, 3), Point(nan), Point(nan), Deep(1), Deep(1, names=("a",))),
        *(Counts([1, 2]), Counts([1, 2]), Counts()),
        *(Own("a"), Own("b"), Named(name="a"), Same("a"), Empty(), Empty()),
    ]


def printed(value: object) -> str:
    """Without where the class is and where the value lies in memory."""
    return repr(value).rpartition("<locals>.")[2].partition(" at ")[0]


def is_hashable(value: object) -> bool:
    return type(value).__hash__ is not None


def test_they_are_equal_and_printed_as_those_of_the_standard_library():
    theirs, ours = (shapes(each) for each in PAIRS.values())
    assert [[a == b for b in ours] for a in ours] == [[a == b for b in theirs] for a in theirs]
    assert [printed(each) for each in ours] == [printed(each) for each in theirs]
    assert [is_hashable(each) for each in ours] == [is_hashable(each) for each in theirs]
    assert [dataclasses.asdict(each).keys() for each in ours] == [dataclasses.asdict(each).keys() for each in theirs]
    points = ours[:3]
    assert {(a == b) == (hash(a) == hash(b)) for a in points for b in points} == {True}


@pytest.mark.parametrize("dataclass", PAIRS.values(), ids=PAIRS)
def test_a_frozen_one_cannot_be_changed(dataclass):
    value = shapes(dataclass)[0]
    with pytest.raises(FrozenInstanceError):
        value.x = 3
    with pytest.raises(FrozenInstanceError):
        del value.x
    assert dataclasses.replace(value, x=3).x == 3


@pytest.mark.parametrize("dataclass", PAIRS.values(), ids=PAIRS)
def test_wrong_arguments_are_named(dataclass):
    kind = type(shapes(dataclass)[0])
    for _first_and_further in range(2):
        with pytest.raises(TypeError, match=r"__init__\(\) missing 1 required positional argument: 'x'"):
            kind()


@dataclass(frozen=True)
class Stored:
    name: str
    size: int = 0


def test_instances_that_no_call_makes_are_equal_to_others():
    """Of a class whose __init__ was never called: from a pickle of another process, or read by msgspec."""
    read = msgspec.convert({"name": "a", "size": 1}, Stored)
    assert read == pickle.loads(pickle.dumps(read)) == Stored("a", 1)
    assert {read: 1}[Stored("a", 1)] == 1
    with pytest.raises(FrozenInstanceError):
        read.size = 2


def test_nothing_is_compiled_before_the_first_instance():
    compiled = []

    def note(_frame: Any, event: str, called: Any) -> None:
        if event == "c_call" and called is exec:
            compiled.append(called)

    sys.setprofile(note)
    try:

        @dataclass(frozen=True)
        class Point:
            """A place."""

            x: float

        before = len(compiled)
        made = Point(1)
        after = len(compiled)
        assert made == Point(1)
        again = len(compiled)
    finally:
        sys.setprofile(None)
    assert before == 0
    assert after == again > 0

"""What an option declares, and the kinds of options: how values are written, read, checked, shown and typed.

The command line, the API, the forms, the history's facts and the lab's grids ask an option's kind, each in one way for
all kinds. None is no value, and possible for each.
"""

import argparse
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Annotated, Any, Literal, Union

from importer.engine.plan.methods import METHODS
from importer.engine.units import human_bytes, parse_size, short_size

NONE = "none"  # the word for no limit
# Digits, perhaps with a comma or _ before each three: 1,5 is no whole number.
_WHOLE = re.compile(r"[0-9]{1,3}(?:[,_][0-9]{3})+|[0-9]{1,18}")
Limited = Callable[..., Any]  # makes the limits of a type, as Field of pydantic does


def display(value: str) -> str:
    """A value for people: load_data_local as LOAD DATA LOCAL, read_only as "read only"."""
    return METHODS[value].label if value in METHODS else value.replace("_", " ")


class OptionKind:
    """What is the same for most kinds. Some have `offers`, the texts of a list in a form.

    `ticks`: the texts of read() that stand for a fixed value each, where there are only these.
    """

    fact = "word"  # the kind of fact that the history keeps of a value
    about = ""  # what the description of a value in documents adds
    metavar = "N"  # what stands for a value in the help of a flag
    keyboard = "decimal"  # the inputmode of a field of a form
    is_list = False  # whether a flag may be given several times

    @property
    def values(self) -> str:
        """What a value may be, in words that follow "is not", or "Give"."""
        return "a text"

    @property
    def texts(self) -> str:
        """What read() takes, in such words."""
        return self.values

    @property
    def offers(self) -> tuple[str, ...]:
        return ()

    @property
    def ticks(self) -> tuple[str, ...]:
        return ()

    @property
    def flag(self) -> dict[str, Any]:
        """The arguments of argparse's add_argument(), without the type, which is read()."""
        return {"metavar": self.metavar} | ({"action": "append"} if self.is_list else {})

    def read(self, text: str) -> Any:
        """The value as it is written on a command line, or in a lab's list. Raises ValueError for another text."""
        return text

    def write(self, value: Any) -> str:
        """The inverse of read()."""
        return str(value)

    def allows(self, value: Any) -> bool:
        """Whether the option may have this value."""
        return isinstance(value, str)

    def words(self, value: Any) -> str:
        """The value for people."""
        return self.write(value)

    def annotation(self, limited: Limited, /) -> Any:
        """The type of a value in a document."""
        return Annotated[str, limited(max_length=255)]

    def onto(self, _before: Any, value: Any, /) -> Any:
        """The value that a given one makes of the one before."""
        return value


@dataclass(frozen=True)
class Text(OptionKind):
    """A text with a maximum number of characters."""

    longest: int = 255
    metavar = "TEXT"
    keyboard = ""

    @property
    def values(self) -> str:
        return f"a text of at most {self.longest:,} characters"

    def allows(self, value: Any) -> bool:
        return isinstance(value, str) and len(value) <= self.longest

    def annotation(self, limited: Limited, /) -> Any:
        return Annotated[str, limited(max_length=self.longest)]


@dataclass(frozen=True)
class WordOr(Text):
    """One of these words, or a text of a form that a pattern takes."""

    choices: tuple[str, ...] = ()
    form: str = ""
    pattern: str = ""

    @property
    def values(self) -> str:
        return f"{', '.join(self.choices)} or {self.form}"

    def read(self, text: str) -> str:
        if not self.allows(text.strip()):
            raise ValueError(text)
        return text.strip()

    def allows(self, value: Any) -> bool:
        return super().allows(value) and bool(value in self.choices or re.fullmatch(self.pattern, value))

    def annotation(self, limited: Limited, /) -> Any:
        return Annotated[str, limited(max_length=self.longest, pattern=f"^({'|'.join(self.choices)}|{self.pattern})$")]


@dataclass(frozen=True)
class Choice(OptionKind):
    """One of these texts. "" among them is the default, which nobody writes."""

    choices: tuple[str, ...]

    @property
    def values(self) -> str:
        return f"one of {', '.join(filter(None, self.choices))}"

    @property
    def flag(self) -> dict[str, Any]:
        return {"choices": tuple(filter(None, self.choices))}

    @property
    def offers(self) -> tuple[str, ...]:
        return self.choices

    @property
    def ticks(self) -> tuple[str, ...]:
        return tuple(each for each in self.choices if each not in ("", "auto"))

    def read(self, text: str) -> str:
        """The choice, however its letters and spaces are written: `read committed`. allows() refuses another text."""
        return next((each for each in self.choices if _folded(each) == _folded(text)), text)

    def allows(self, value: Any) -> bool:
        return value in self.choices

    def words(self, value: Any) -> str:
        return display(value)

    def annotation(self, _limited: Limited, /) -> Any:
        return Literal[tuple(filter(None, self.choices))]


def _folded(text: str) -> str:
    return text.strip().lower().replace(" ", "-").replace("_", "-")


@dataclass(frozen=True)
class Number(OptionKind):
    """A whole number from `least` to `most`. `none`: the word none is a value, too."""

    least: int
    most: int
    none: bool = False
    fact, keyboard = "number", "numeric"

    @property
    def values(self) -> str:
        return f"a whole number from {self.least} to {self.most:,}"

    def read(self, text: str) -> int | str:
        if self.none and text == NONE:
            return text
        plain = re.sub("[,_]", "", text) if _WHOLE.fullmatch(text) else ""
        if not plain or not self.allows(int(plain)):
            raise ValueError(text)
        return int(plain)

    def allows(self, value: Any) -> bool:
        return type(value) is int and self.least <= value <= self.most

    def words(self, value: Any) -> str:
        return f"{value:,}"

    def annotation(self, limited: Limited, /) -> Any:
        number = Annotated[int, limited(ge=self.least, le=self.most)]
        return Union[number, Literal["none"]] if self.none else number  # noqa: UP007 (made at run time)


@dataclass(frozen=True)
class Size(Number):
    """A number of bytes, written as 32M."""

    fact, about, metavar, keyboard = "bytes", " In bytes.", "32M", "decimal"
    texts = "a size such as 512K, 32M or 1G"

    def read(self, text: str) -> int:
        if size := parse_size(text.replace(" ", "")):
            return size
        raise ValueError(text)

    def write(self, value: Any) -> str:
        return short_size(value)

    def words(self, value: Any) -> str:
        return human_bytes(value)


@dataclass(frozen=True)
class Percent(OptionKind):
    """A number from 0 to 100, written with a point or a comma, perhaps with %."""

    fact, metavar, values = "number", "P", "a percentage from 0 to 100"

    def read(self, text: str) -> float:
        plain = text.removesuffix("%").replace(",", ".").strip()
        if not re.fullmatch(r"[0-9]{1,3}(\.[0-9]{1,6})?", plain) or not self.allows(float(plain)):
            raise ValueError(text)
        return float(plain)

    def write(self, value: Any) -> str:
        return f"{value:g}"

    def allows(self, value: Any) -> bool:
        return isinstance(value, int | float) and 0 <= value <= 100

    def annotation(self, limited: Limited, /) -> Any:
        return Annotated[float, limited(ge=0, le=100)]


@dataclass(frozen=True)
class Switch(OptionKind):
    fact, values, texts, offers = "switch", "yes or no", "on or off", ("yes", "no")
    ticks = ("on", "off")

    @property
    def flag(self) -> dict[str, Any]:
        return {"action": argparse.BooleanOptionalAction}

    def read(self, text: str) -> bool:
        if text not in ("on", "off"):
            raise ValueError(text)
        return text == "on"

    def write(self, value: Any) -> str:
        return "on" if value else "off"

    def allows(self, value: Any) -> bool:
        return isinstance(value, bool)

    def annotation(self, _limited: Limited, /) -> Any:
        return bool


@dataclass(frozen=True)
class Variables(OptionKind):
    """Variables of the server, by name in lower case, with their values; each is written as NAME=VALUE."""

    fact, metavar, is_list, values = "text", "NAME=VALUE", True, "written as NAME=VALUE"

    def read(self, text: str) -> tuple[str, str]:
        """One variable."""
        name, equals, value = (part.strip() for part in text.partition("="))
        if not (name and equals and value):
            raise ValueError(text)
        return name.lower(), value

    def allows(self, value: Any) -> bool:
        return isinstance(value, dict)

    def words(self, value: Any) -> str:
        return ", ".join(f"{name} = {text}" for name, text in sorted(value.items()))

    def annotation(self, limited: Limited, /) -> Any:
        return dict[Annotated[str, limited(min_length=1, max_length=64)], super().annotation(limited)]  # type: ignore[misc]

    def onto(self, before: Any, value: Any, /) -> Any:
        return {**before, **{name.strip().lower(): text for name, text in value.items()}}


class Group(Enum):
    """The groups in which pages show the options, and their titles."""

    MODE = "Import mode"
    ERRORS = "Error handling"
    SPEED = "Speed"
    VERIFY = "Verify"


@dataclass(frozen=True)
class OptionSpec:
    """One field of Options.

    `about` says what it does and its disadvantage, `answers` what each value means. `examples` are values that a lab
    may try, "" where a lab cannot vary the option because it changes which rows arrive. `unset` is the meaning of no
    value. `hints` explain the answers on pages, or under "" the option; without them, `about` does.
    """

    name: str
    kind: OptionKind
    flag: str
    label: str
    about: str
    answers: Mapping[str, str] = field(default_factory=dict)
    group: Group = Group.SPEED
    examples: str = ""
    unset: str = "none"
    hints: Mapping[str, str] = field(default_factory=dict)

    def hint(self, value: str) -> str:
        """The explanation on a page where this value is chosen."""
        return self.hints.get(value) or self.hints.get("") or f"{self.about}."

    @property
    def offered(self) -> dict[str, str]:
        """The texts that a form offers, in words."""
        return {text: self.answers.get(text) or display(text) for text in self.kind.offers}

    @property
    def tunable(self) -> bool:
        """Whether a lab may vary it."""
        return bool(self.examples)

    def shown(self, value: Any) -> str:
        """A value of the option in words; "" for none."""
        if value is None:
            return ""
        text = ("yes" if value else "no") if isinstance(value, bool) else value
        return self.offered[text] if text in self.kind.offers else self.kind.words(value)

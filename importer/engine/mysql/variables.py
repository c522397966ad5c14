"""Variables that an import may set for its sessions or for the whole server: what each may be, and what it costs."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from importer.engine.errors import Problem, TargetProblem
from importer.engine.mysql.server_info import Server

Value = int | str

_UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}


@dataclass(frozen=True)
class Variable:
    """One variable: a number from `least` to `most` (bytes as 64M, too), or one of `choices`, in lower case.

    `does` says what it is good for and `gives_up` what it costs, "" for nothing but memory. `only`: the flavour that
    has it, "" for all.
    """

    name: str
    does: str
    gives_up: str = ""
    least: int = 0
    most: int = 0
    choices: tuple[str, ...] = ()
    only: str = ""

    @property
    def allowed(self) -> str:
        """What it may be, in words."""
        return ", ".join(self.choices) if self.choices else f"a number from {self.least:,} to {self.most:,}"

    def value(self, text: str, option: str = "") -> Value:
        """What SET takes for `text`. Raises Problem if it may not be that."""
        if self.choices:
            if text.lower() in self.choices:
                return int(text) if text.isdigit() else text.lower()
        elif (found := re.fullmatch(r"(\d{1,19})([KMGT]?)", text.strip().upper())) and (
            self.least <= (number := int(found[1]) * _UNITS[found[2]]) <= self.most
        ):
            return number
        raise Problem(f"{self.name} is {text!r}.", advice=f"Give {self.allowed}.", option=option)


def parse_values(asked: Mapping[str, str], allowed: Mapping[str, Variable], kind: str, option: str) -> dict[str, Value]:
    """What was asked for by that field of Options, as SET takes it.

    Raises Problem for a name that is not allowed, or a value.
    """
    unknown = [name for name in asked if name not in allowed]
    if unknown:
        raise Problem(
            f"{kind} {unknown[0]} cannot be set for an import.",
            advice=f"Choose from {', '.join(sorted(allowed))}.",
            option=option,
        )
    return {name: allowed[name].value(text, option) for name, text in sorted(asked.items())}


def require_flavour(asked: Mapping[str, str], allowed: Mapping[str, Variable], server: Server, option: str) -> None:
    """Raise TargetProblem for a variable that the server's flavour does not have."""
    for name in asked:
        only = allowed[name].only
        if only and server.mariadb != (only == "MariaDB"):
            raise TargetProblem(
                f"{server.flavour} has no {name}.", advice=f"Leave it out: it is {only}'s.", option=option
            )

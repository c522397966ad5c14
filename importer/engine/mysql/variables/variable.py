"""A variable that an import may set for its sessions or the whole server: its allowed values, use and cost."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from importer.engine.errors import Problem, TargetProblem
from importer.engine.mysql.server_info import Server

Value = int | str

_UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}


@dataclass(frozen=True)
class Variable:
    """One variable: a number from `least` to `most` (bytes also as 64M), or one of `choices`, in lower case.

    `does`: its benefit. `gives_up`: its cost, "" if that is only memory. `only`: the only flavour that has it, "" for
    all. `of_mariadb`: the privilege that MariaDB wants for its global value; MySQL wants the same one for all.
    """

    name: str
    does: str
    gives_up: str = ""
    least: int = 0
    most: int = 0
    choices: tuple[str, ...] = ()
    only: str = ""
    of_mariadb: str = "SUPER"

    @property
    def allowed(self) -> str:
        """The allowed values in words."""
        return ", ".join(self.choices) if self.choices else f"a number from {self.least:,} to {self.most:,}"

    def value(self, text: str, option: str = "") -> Value:
        """The value for SET that `text` stands for. Raises Problem if the value is not allowed."""
        if self.choices:
            if text.lower() in self.choices:
                return int(text) if text.isdigit() else text.lower()
        elif (match := re.fullmatch(r"(\d{1,19})([KMGT]?)", text.strip().upper())) and (
            self.least <= (number := int(match[1]) * _UNITS[match[2]]) <= self.most
        ):
            return number
        raise Problem(f"{self.name} is {text!r}.", advice=f"Give {self.allowed}.", option=option)


def parse_values(
    requested: Mapping[str, str], allowed: Mapping[str, Variable], kind: str, option: str
) -> dict[str, Value]:
    """The requested variables with their values for SET, by name.

    `option` is the field of Options that has them, `kind` the word for them in a message. Raises Problem if a name or a
    value is not allowed.
    """
    unknown = [name for name in requested if name not in allowed]
    if unknown:
        raise Problem(
            f"{kind} {unknown[0]} cannot be set for an import.",
            advice=f"Choose from {', '.join(sorted(allowed))}.",
            option=option,
        )
    return {name: allowed[name].value(text, option) for name, text in sorted(requested.items())}


def require_flavour(requested: Mapping[str, str], allowed: Mapping[str, Variable], server: Server, option: str) -> None:
    """Raise TargetProblem if the server's flavour does not have a requested variable."""
    for name in requested:
        only = allowed[name].only
        if only and server.mariadb != (only == "MariaDB"):
            raise TargetProblem(
                f"{server.flavour} has no {name}.", advice=f"Leave it out: it is {only}'s.", option=option
            )

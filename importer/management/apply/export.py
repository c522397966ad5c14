"""Writes what is there as a file for `millrace apply`, with references to environment variables for secrets."""

import re
from typing import Any

from importer.management.apply.kinds.kind import Kind
from importer.management.apply.kinds.kinds import KINDS

HEAD = """\
# What this installation has, for `millrace apply -f FILE`. Secrets are not in it: set the variables that it names.
"""


def exported() -> str:
    """The file, with everything that the acting person may see."""
    import yaml  # Here: only `apply` needs it.

    taken: set[str] = set()
    sections = {kind.section: {each.name: _written(kind, each, taken) for each in kind.seen()} for kind in KINDS}
    values = {name: things for name, things in sections.items() if things}
    return HEAD + yaml.safe_dump(values, sort_keys=False, allow_unicode=True, default_flow_style=None, width=120)


def _written(kind: Kind, thing: Any, taken: set[str]) -> dict[str, Any]:
    secrets = {name: {"env": _variable(kind, thing.name, name, taken)} for name in kind.secret_names(thing)}
    return {**kind.written(thing), **secrets}


def _variable(kind: Kind, thing: str, secret: str, taken: set[str]) -> str:
    """The name of a variable that no other secret has."""
    name = wanted = re.sub(r"\W", "_", f"{kind.word}_{thing}_{secret}".upper(), flags=re.ASCII)
    number = 1
    while name in taken:
        number += 1
        name = f"{wanted}_{number}"
    taken.add(name)
    return name

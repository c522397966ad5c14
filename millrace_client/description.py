"""The operations of a server, from its own description (OpenAPI): which address, method and headers each has."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlencode

from millrace_client.problems import Problem

ADDRESS = "/api/v1/openapi.json"
# An operation with this header can be sent twice, and is carried out once (docs/api.md).
KEY = "Idempotency-Key"


@dataclass(frozen=True)
class Operation:
    """One operation. `takes`: where each of its parameters stands (path, query or header), by name."""

    name: str
    method: str
    path: str
    takes: Mapping[str, str]

    @property
    def has_key(self) -> bool:
        """Whether it takes an Idempotency-Key."""
        return KEY in self.takes

    def address(self, values: Mapping[str, Any]) -> str:
        """Path and query with these values; the query repeats the name for each element of a list.

        Raises TypeError for a value that the operation does not take, and for one that is missing.
        """
        for name in values:
            if self.takes.get(name) not in ("path", "query"):
                raise TypeError(f"{self.name} takes no {name}")
        query = {name: _texts(value) for name, value in values.items() if self.takes[name] == "query"}
        filled = re.sub(r"{(\w+)}", lambda found: quote(_text(self._value(found[1], values)), safe=""), self.path)
        return f"{filled}?{urlencode(query, doseq=True)}" if query else filled

    def _value(self, name: str, values: Mapping[str, Any]) -> Any:
        if name not in values:
            raise TypeError(f"{self.name} needs {name}")
        return values[name]


class Description:
    """All operations of a server, by name."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        """`document`: as the server describes itself."""
        self._version = str(document["info"]["version"])
        self._operations = {
            operation["operationId"]: Operation(
                operation["operationId"],
                method.upper(),
                path,
                {each["name"]: each["in"] for each in operation["parameters"]},
            )
            for path, methods in document["paths"].items()
            for method, operation in methods.items()
        }

    def operation(self, name: str) -> Operation:
        """The operation of this name. Raises Problem if the server has none, because it is older."""
        if found := self._operations.get(name):
            return found
        raise Problem(
            f"The server has no operation {name}: it is Millrace {self._version}.",
            advice="Use the client of the same version, or update the server.",
        )


def _texts(value: Any) -> list[str]:
    return [_text(each) for each in value] if isinstance(value, list) else [_text(value)]


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)

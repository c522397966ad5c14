"""Bodies of requests: what they have in common, and their examples in the description."""

import re
from datetime import date
from typing import Annotated, Any

from ninja import Schema
from pydantic import BeforeValidator, GetCoreSchemaHandler
from pydantic_core import CoreSchema

# Types whose texts pydantic would take as well: "1" for 1, and "no" for false.
STRICT = ("int", "float", "bool")


def _make_strict(part: Any) -> None:
    """Make each number and truth value in a part of a core schema strict. Dates and keys stay texts, as in JSON."""
    if isinstance(part, dict):
        if part.get("type") in STRICT:
            part["strict"] = True
        for each in part.values():
            _make_strict(each)
    elif isinstance(part, list | tuple):
        for each in part:
            _make_strict(each)


class Body(Schema, extra="forbid"):
    """A body: it has no other values than those declared, and no text in place of a number or a truth value."""

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        schema = handler(source)
        _make_strict(schema)
        return schema


def _as_day(value: Any) -> Any:
    """A date is a text such as 2026-11-20. pydantic would take a number of seconds as well."""
    if not (isinstance(value, str) and re.fullmatch(r"\d{4}-\d\d-\d\d", value, re.ASCII)):
        raise ValueError("a date is written as 2026-11-20")
    return value


Day = Annotated[date, BeforeValidator(_as_day)]


def example(**values: Any) -> dict[str, Any]:
    """What the schema of a body has in addition: one body as an example."""
    return {"examples": [values]}

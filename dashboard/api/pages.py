"""Pages of long lists: each answer has the cursor of the next page, which new rows do not shift."""

import base64
import binascii
from collections.abc import Callable, Sequence
from typing import Annotated, Any, Generic, TypeVar

from django.db import models
from ninja import Schema
from pydantic import Field

from importer.engine.errors import Problem

Row = TypeVar("Row")
Listed = TypeVar("Listed")
Thing = TypeVar("Thing", bound=models.Model)

MOST = 200
USUAL = 50
LARGEST = 2**63 - 1
_PLURALS = {"Person": "People"}


class Page(Schema, Generic[Row]):
    """Some rows of a list, and the cursor of those after them."""

    items: list[Row]
    next: str | None = Field(description="The cursor of the next page; null on the last one.")

    @classmethod
    def model_parametrized_name(cls, params: tuple[Any, ...]) -> str:
        """What a page of rows of a class is called in the description: PageOfImports."""
        row = params[0].__name__.removesuffix("Out")
        return f"{cls.__name__}Of{_PLURALS.get(row, f'{row}s')}"


class Cursor(Schema):
    """Which page of a list is asked for."""

    cursor: Annotated[str, Field(description="`next` of the page before.", max_length=64)] = ""
    limit: Annotated[int, Field(ge=1, le=MOST, description="The most rows of the page.")] = USUAL

    def after(self, parts: int = 1) -> tuple[int, ...] | None:
        """The place of the last row of the previous page; None for the first page. `parts`: the numbers in a place.

        Raises Problem for an invalid cursor.
        """
        return read(self.cursor, parts) if self.cursor else None

    def of(
        self,
        found: Sequence[Listed],
        show: Callable[[Listed], Any],
        place: Callable[[Listed], tuple[int, ...]],
    ) -> dict[str, Any]:
        """The page of a list. `found`: its rows, one more than `limit` or all; `place`: that of a row, for after()."""
        shown = found[: self.limit]
        further = write(*place(shown[-1])) if found[self.limit :] else None
        return {"items": [show(each) for each in shown], "next": further}

    def newest(self, things: models.QuerySet[Thing], show: Callable[[Thing], Any]) -> dict[str, Any]:
        """The page of these things, the newest first. Raises Problem for a cursor that is none."""
        if last := self.after():
            things = things.filter(pk__lt=last[0])
        return self.of(list(things.order_by("-pk")[: self.limit + 1]), show, lambda each: (each.pk,))

    @property
    def first(self) -> int:
        """The place, from 0, of the page's first row in a list whose rows have no number. Raises as after() does."""
        counted = self.after()
        return counted[0] if counted else 0

    def part(self, rows: Sequence[Listed], show: Callable[[Listed], Any] = lambda row: row) -> dict[str, Any]:
        """The page of a list whose rows have no number. `rows`: those from `first` on, one more than `limit` or all."""
        return self.of(rows, show, lambda _: (self.first + self.limit,))


def write(*place: int) -> str:
    """A place in a list as its cursor."""
    return base64.urlsafe_b64encode(".".join(map(str, place)).encode()).decode().rstrip("=")


def read(cursor: str, parts: int = 1) -> tuple[int, ...]:
    """The place, of `parts` numbers, that a cursor stands for. Raises Problem for an invalid cursor."""
    try:
        text = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True).decode("ascii")
        numbers = text.split(".")
        if len(numbers) == parts and all(each.isdigit() and int(each) <= LARGEST for each in numbers):
            return tuple(map(int, numbers))
    except (binascii.Error, ValueError):
        pass
    raise Problem("The cursor is none of this list.", "query.cursor", "Send `next` of the page before, or no cursor.")

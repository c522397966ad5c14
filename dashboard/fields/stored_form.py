"""What the forms of stored things have in common: targets, connections, channels, schedules, people and groups."""

import hashlib
from collections.abc import Callable
from functools import cached_property
from typing import Any

from django import forms
from django.db.models import QuerySet

CHANGED = (
    "It has changed since this page was opened, in another tab or by somebody else. Nothing is saved: open the page"
    " again, then make your change."
)
NOT_KEPT = "What you entered is not kept. Enter it again."


class StoredForm(forms.Form):
    """A form of something stored, with its values as `initial`. It does not undo what was saved since it was shown.

    The page has the digest `shown` in a hidden field of this name; a program, which uses the forms too, has no page.
    Secrets are fields that are never sent back to the page: when the form is refused, they are asked for again.
    """

    secrets: tuple[str, ...] = ()

    @property
    def shown(self) -> str:
        """The digest of the stored values that the page has; "" for something new."""
        return str(self.data.get("shown", "")) if self.is_bound else self._stored_digest

    def full_clean(self) -> None:
        """Check the fields; then whether the stored values are still those that were shown."""
        super().full_clean()
        if not self.is_bound or "shown" not in self.data:
            return
        if self.shown != self._stored_digest:
            self.add_error(None, CHANGED)
        for name in self.secrets if self.errors else ():
            if self.data.get(self.add_prefix(name)):
                self.add_error(name, NOT_KEPT)

    def style(self, css_class: Callable[[str, forms.Field], str]) -> None:
        """Give each field its class on the page, and mark those with errors. It comes last: it checks what was sent."""
        for name, field in self.fields.items():
            wrong = self.is_bound and name in self.errors
            field.widget.attrs["class"] = f"{css_class(name, field)}{' is-invalid' if wrong else ''}"

    def is_stored(self) -> bool:
        """Whether the form is about something stored, and not about something new."""
        return bool(self.initial)

    @cached_property
    def _stored_digest(self) -> str:
        if not self.is_stored():
            return ""
        values = [(name, _comparable(self.get_initial_for_field(each, name))) for name, each in self.fields.items()]
        return hashlib.sha256(repr(values).encode()).hexdigest()[:16]


class StoredModelForm(StoredForm, forms.ModelForm):  # type: ignore[type-arg]
    """A StoredForm of a model's instance."""

    def is_stored(self) -> bool:
        """Whether the instance is in the database."""
        return self.instance.pk is not None


def _comparable(value: Any) -> Any:
    return sorted(each.pk for each in value) if isinstance(value, QuerySet) else str(value)

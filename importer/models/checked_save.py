"""Checks a row and saves it, for everything that people enter; the names of what they enter are there once."""

from collections.abc import Sequence
from typing import Any, ClassVar

from django.core.exceptions import ValidationError
from django.db import models

from importer.engine.errors import Problem


def save_checked(row: models.Model, kind: type[Problem] = Problem) -> None:
    """Save the row if its fields and constraints allow it. Raises `kind` with the errors, each with its field.

    `option` of the problem is the first of these fields.
    """
    try:
        row.full_clean()
    except ValidationError as error:
        errors = "; ".join(f"{name}: {' '.join(texts)}" for name, texts in error.message_dict.items())
        first = next(iter(error.message_dict))
        raise kind(errors, advice="Correct that and try again.", option=first) from error
    row.save()


class Named(models.Model):
    """The base of what people give a name, which no other row has. `thing`: what it is, in the message about that."""

    thing: ClassVar[str]

    class Meta:
        abstract = True

    def unique_error_message(self, model_class: type[models.Model], unique_check: Sequence[Any]) -> ValidationError:
        """As Django's message, which would name the model's class."""
        if tuple(unique_check) != ("name",):
            return super().unique_error_message(model_class, unique_check)
        return ValidationError(f"There is a {self.thing} of this name already.", code="unique")

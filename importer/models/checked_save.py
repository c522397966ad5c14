"""Checks a row and saves it, for everything that people enter."""

from django.core.exceptions import ValidationError
from django.db import models

from importer.engine.errors import Problem


def save_checked(row: models.Model, kind: type[Problem] = Problem) -> None:
    """Save the row if its fields and constraints allow it. Raises `kind` with the errors, each with its field."""
    try:
        row.full_clean()
    except ValidationError as error:
        errors = "; ".join(f"{name}: {' '.join(texts)}" for name, texts in error.message_dict.items())
        raise kind(errors, advice="Correct that and try again.") from error
    row.save()

"""The form fields for each kind of option: read what was entered, and write a value as it is entered."""

import re
from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from importer.engine.plan.options import NO_LIMIT
from importer.engine.units import MIB, parse_size, short_size

# A whole number, perhaps with a comma after each three digits: 1,5 is none.
_IN_GROUPS = re.compile(r"[0-9]{1,3}(,[0-9]{3})+|[0-9]+")


def _refuse(text: str, advice: str) -> ValidationError:
    return ValidationError(f"{text!r} cannot be. {advice}")


class OptionField(forms.Field):
    """A field that may be empty, and that can write a value."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**{"required": False, **kwargs})

    def written(self, value: Any) -> str:
        """The value as it is entered."""
        return "" if value is None else str(value)


class TextField(OptionField, forms.CharField):
    """A text; "" is a value as well."""


class ChoiceField(OptionField, forms.ChoiceField):
    """One of the choices; "" may be among them."""


class SwitchField(OptionField, forms.TypedChoiceField):
    """Yes or no."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(coerce=lambda text: text == "yes", **kwargs)

    def written(self, value: Any) -> str:
        return "yes" if value else "no"


class WholeNumberField(OptionField):
    """A whole number within bounds; None for "". `none` allows the word none as a value."""

    def __init__(self, *, least: int, most: int, none: bool = False, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.least, self.most, self.none = least, most, none

    def to_python(self, value: Any) -> int | str | None:
        text = (value or "").strip()
        if not text or (self.none and text == NO_LIMIT):
            return text or None
        plain = text.replace(",", "") if _IN_GROUPS.fullmatch(text) else ""
        if plain and len(plain) <= len(str(self.most)) and self.least <= int(plain) <= self.most:
            return int(plain)
        raise _refuse(text, f"Give a whole number from {self.least} to {self.most:,}, or leave it empty.")


class MebibytesField(OptionField):
    """A number of bytes, entered in MiB; None for ""."""

    def __init__(self, *, most: int, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.most = most

    def to_python(self, value: Any) -> int | None:
        text = (value or "").strip()
        if not text:
            return None
        if re.fullmatch(r"[0-9]{1,6}(\.[0-9]{1,12})?", text) and 1 <= (size := round(float(text) * MIB)) <= self.most:
            return size
        raise _refuse(text, f"Give a number of MiB up to {self.most // MIB:,}, or leave it empty.")

    def written(self, value: Any) -> str:
        return "" if value is None else f"{value / MIB:.12g}"


class SizeField(OptionField):
    """A number of bytes, entered as 512M or 10G; None for ""."""

    def to_python(self, value: Any) -> int | None:
        text = (value or "").replace(" ", "")
        if not text:
            return None
        if size := parse_size(text):
            return size
        raise ValidationError(f"{text!r} is not a size such as 512M or 10G. Or leave it empty.")

    def written(self, value: Any) -> str:
        return short_size(value) if value else ""


class PercentField(OptionField):
    """A number from 0 to 100, with a comma or a point; None for ""."""

    def to_python(self, value: Any) -> float | None:
        text = (value or "").strip()
        plain = text.removesuffix("%").replace(",", ".").strip()
        if not plain:
            return None
        if re.fullmatch(r"[0-9]{1,3}(\.[0-9]{1,6})?", plain) and float(plain) <= 100:
            return float(plain)
        raise _refuse(text, "Give a number from 0 to 100, or leave it empty.")

    def written(self, value: Any) -> str:
        return "" if value is None else f"{value:g}"


class VariablesField(OptionField):
    """Variables of the server with their values, one on each line, as name = value."""

    def to_python(self, value: Any) -> dict[str, str]:
        variables: dict[str, str] = {}
        for line in filter(None, map(str.strip, (value or "").splitlines())):
            name, equals, text = (part.strip() for part in line.partition("="))
            if not (name and equals and text):
                raise _refuse(line, "Write one on each line, as name = value.")
            if name.lower() in variables:
                raise ValidationError(f"{name} is entered twice. Remove one of the two.")
            variables[name.lower()] = text
        return variables

    def written(self, value: Any) -> str:
        return "\n".join(f"{name} = {text}" for name, text in sorted(value.items()))

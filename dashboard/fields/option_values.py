"""The form fields for each kind of option: read what was entered, and write a value as it is entered."""

import re
from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from importer.engine.plan.option_kinds import Choice, OptionKind, OptionSpec, Size, Switch, Text, Variables, WordOr
from importer.engine.units import MIB


def _refuse(text: str, advice: str) -> ValidationError:
    return ValidationError(f"{text!r} cannot be. {advice}")


class OptionField(forms.Field):
    """A field for values of a kind, which are written as on a command line; None for ""."""

    def __init__(self, kind: OptionKind, **kwargs: Any) -> None:
        super().__init__(required=False, **kwargs)
        self.kind = kind

    def to_python(self, value: Any) -> Any:
        text = (value or "").strip()
        if not text:
            return None
        try:
            return self.kind.read(text)
        except ValueError:
            raise _refuse(text, f"Give {self.kind.texts}, or leave it empty.") from None

    def written(self, value: Any) -> str:
        """The value as it is entered."""
        return "" if value is None else self.kind.write(value)


class TextField(OptionField):
    """A text; "" is a value as well."""

    def to_python(self, value: Any) -> Any:
        return super().to_python(value) or ""


class ChoiceField(TextField):
    """One of the texts that the kind offers; "" may be among them."""

    def to_python(self, value: Any) -> Any:
        if value not in self.kind.offers:
            raise _refuse(value, f"Give {self.kind.values}.")
        return value


class SwitchField(ChoiceField):
    """Yes or no."""

    def to_python(self, value: Any) -> Any:
        return super().to_python(value) == "yes"

    def written(self, value: Any) -> str:
        return "yes" if value else "no"


class MebibytesField(OptionField):
    """A number of bytes, entered in MiB; None for ""."""

    def to_python(self, value: Any) -> int | None:
        text = (value or "").strip()
        if not text:
            return None
        assert isinstance(self.kind, Size)
        size = round(float(text) * MIB) if re.fullmatch(r"[0-9]{1,6}(\.[0-9]{1,12})?", text) else 0
        if size and self.kind.allows(size):
            return size
        raise _refuse(text, f"Give a number of MiB up to {self.kind.most // MIB:,}, or leave it empty.")

    def written(self, value: Any) -> str:
        return "" if value is None else f"{value / MIB:.12g}"


class VariablesField(OptionField):
    """Variables of the server with their values, one on each line, as name = value."""

    def to_python(self, value: Any) -> dict[str, str]:
        variables: dict[str, str] = {}
        for line in filter(None, map(str.strip, (value or "").splitlines())):
            try:
                name, text = self.kind.read(line)
            except ValueError:
                raise _refuse(line, "Write one on each line, as name = value.") from None
            if name in variables:
                raise ValidationError(f"{name} is entered twice. Remove one of the two.")
            variables[name] = text
        return variables

    def written(self, value: Any) -> str:
        return "\n".join(f"{name} = {text}" for name, text in sorted(value.items()))


# The fields of the kinds that are entered in another way than on a command line.
_FIELDS: dict[type[OptionKind], type[OptionField]] = dict.fromkeys((Text, WordOr), TextField)
_FIELDS |= {Choice: ChoiceField, Switch: SwitchField, Size: MebibytesField, Variables: VariablesField}


def option_field(spec: OptionSpec) -> OptionField:
    """The form field for an option."""
    return _FIELDS.get(type(spec.kind), OptionField)(spec.kind, label=spec.label)

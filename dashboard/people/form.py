"""The forms of people, groups and grants."""

from collections.abc import Iterator
from typing import Any, cast

from django import forms
from django.contrib.auth.models import Group, User
from django.db import models

from dashboard.fields.stored_form import StoredForm
from importer.access import people, tokens
from importer.access.people import Granted
from importer.access.time_zones import set_time_zone
from importer.engine.errors import Problem
from importer.models import AccessToken, Grant, Level, Role, Scope

LEVELS = {
    Level.LOOK: "look: see it",
    Level.LOAD: "load: import or use it",
    Level.ADMINISTER: "administer: change it, too",
}
CHECKED = (forms.RadioSelect, forms.CheckboxSelectMultiple)


class Styled(forms.Form):
    """A form whose fields have the page's classes."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for field in self.fields.values():
            select = "form-select" if isinstance(field.widget, forms.Select) else "form-control"
            field.widget.attrs["class"] = "form-check-input" if isinstance(field.widget, CHECKED) else select

    def add_error(self, field: str | None, error: Any) -> None:
        """Show the problem next to the field, and mark the field."""
        super().add_error(field, error)
        if field in self.fields and not isinstance(self.fields[field].widget, CHECKED):
            self.fields[field].widget.attrs["class"] += " is-invalid"


class PersonForm(StoredForm, Styled):
    """The role and the mail address of a person."""

    email = forms.EmailField(
        required=False,
        label="Mail",
        max_length=254,
        help_text="An identity provider, if one is set up, recognises the person by this address.",
        widget=forms.EmailInput(attrs={"autocomplete": "off"}),
    )
    role = forms.TypedChoiceField(choices=Role.choices, coerce=Role, initial=Role.VIEWER, widget=forms.RadioSelect)


class NewPersonForm(PersonForm):
    """A person who is added."""

    name = forms.CharField(
        max_length=150,
        help_text="For signing in: letters, digits, @.+-_",
        widget=forms.TextInput(attrs={"autocomplete": "off", "autocapitalize": "none", "spellcheck": "false"}),
    )


class TimeZoneForm(Styled):
    """The zone in which a person reads times."""

    time_zone = forms.CharField(
        required=False,
        max_length=64,
        label="Time zone",
        help_text="Of times on pages, in charts and exports. Schedules keep their own.",
        widget=forms.TextInput(
            attrs={"list": "time-zones", "autocomplete": "off", "spellcheck": "false", "placeholder": "Europe/Vienna"}
        ),
    )

    def save_for(self, user: User) -> bool:
        """Save the zone. False: something is wrong with it, which the form says."""
        if not self.is_valid():
            return False
        try:
            set_time_zone(user, self.cleaned_data["time_zone"])
        except Problem as problem:
            self.add_error("time_zone", str(problem))
            return False
        return True


class TokenForm(Styled):
    """A new token."""

    name = forms.CharField(
        max_length=80,
        help_text="What will use it, such as nightly upload.",
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )
    days = forms.IntegerField(
        label="Days until it expires",
        min_value=1,
        max_value=tokens.LONGEST_DAYS,
        initial=90,
        widget=forms.NumberInput(),
    )
    scopes = forms.MultipleChoiceField(
        label="What it is for",
        choices=[(each.value, f"{each.value}: {each.label}") for each in Scope],
        initial=[each.value for each in tokens.USUAL],
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": "Choose what the token is for."},
    )

    def make_for(self, user: User) -> tuple[AccessToken, str] | None:
        """Create the token. None: something is wrong with it, which the form says."""
        if not self.is_valid():
            return None
        try:
            entered = self.cleaned_data
            return tokens.make(user, entered["name"], entered["days"], entered["scopes"])
        except Problem as problem:
            self.add_error("name", str(problem))
            return None


class GroupForm(Styled):
    """The name of a group."""

    name = forms.CharField(max_length=150, widget=forms.TextInput(attrs={"autocomplete": "off"}))


class People(forms.ModelMultipleChoiceField):  # type: ignore[type-arg]
    """People to tick; who is not active is marked."""

    def label_from_instance(self, obj: models.Model) -> str:
        user = cast(User, obj)
        return user.username if user.is_active else f"{user.username} (not active)"


class MembersForm(StoredForm, Styled):
    """The members of a group."""

    members = People(User.objects.order_by("username"), required=False, widget=forms.CheckboxSelectMultiple)


class GroupsForm(StoredForm, Styled):
    """The groups of a person."""

    groups = forms.ModelMultipleChoiceField(
        Group.objects.order_by("name"), required=False, widget=forms.CheckboxSelectMultiple
    )


class GrantForm(Styled):
    """A grant: on what, how much, and in which tables."""

    thing = forms.ChoiceField(label="On", error_messages={"required": "Choose what the grant is on."})
    level = forms.TypedChoiceField(
        label="What", choices=list(LEVELS.items()), coerce=lambda text: Level(int(text)), initial=Level.LOAD
    )
    tables = forms.CharField(
        required=False,
        label="Only in these tables",
        help_text="For a target, one a line: SCHEMA.TABLE, SCHEMA.PREFIX* or SCHEMA.*. Empty: in all its tables.",
        widget=forms.Textarea(attrs={"rows": 2, "spellcheck": "false", "placeholder": "shop.orders"}),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._things: dict[str, tuple[str, Granted]] = {}
        choices = [(f"{kind}s".capitalize(), list(self._choices(kind))) for kind in people.THINGS]
        self.fields["thing"].choices = [("", "Choose …"), *choices]  # type: ignore[attr-defined]

    def _choices(self, kind: str) -> Iterator[tuple[str, str]]:
        self._things[kind] = (kind, None)
        yield kind, f"every {kind}"
        for each in people.THINGS[kind].objects.order_by("name"):
            self._things[f"{kind}-{each.pk}"] = (kind, each)
            yield f"{kind}-{each.pk}", f"{kind} {each.name}"

    def clean_tables(self) -> list[str]:
        """The limits, without empty lines."""
        return [line.strip() for line in self.cleaned_data["tables"].splitlines() if line.strip()]

    def add_to(self, subject: User | Group) -> Grant | None:
        """Create the grant; None if something is wrong with it, which the form says at its field."""
        if not self.is_valid():
            return None
        kind, thing = self._things[self.cleaned_data["thing"]]
        try:
            return people.grant(subject, kind, self.cleaned_data["level"], thing, self.cleaned_data["tables"])
        except Problem as problem:
            self.add_error("tables", str(problem))
            return None

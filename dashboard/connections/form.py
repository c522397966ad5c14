"""The form of a connection, by its kind, and what each field refuses."""

import re
from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from dashboard.targets.ca_file import WithCAFile
from importer.connections import manage
from importer.connections.locations import WITH_USER, Base, parse_base, written
from importer.connections.settings_schema import Field, fields_of
from importer.engine.errors import Problem
from importer.models import SourceConnection

Kind = SourceConnection.Kind

PLACES = {
    Kind.FOLDER: ("Folder", "All below it may be chosen, and nothing beside it."),
    Kind.HTTP: ("Address", "https://HOST/PATH/: files are chosen below it, each by its whole name."),
    Kind.S3: ("Bucket", "s3://BUCKET/PREFIX; without a prefix, the whole bucket."),
    Kind.SFTP: ("Address", "sftp://USER@HOST:PORT/PATH, without a password."),
    Kind.FTP: ("Address", "ftps://USER@HOST:PORT/PATH, or ftp:// without TLS; without a password."),
}
SIGNS_IN = ("basic", "bearer", "header")


class ConnectionForm(WithCAFile, forms.ModelForm):  # type: ignore[type-arg]
    """A connection of the instance's kind. Secrets only ever go in: left empty on an edit, they stay as they were."""

    place = forms.CharField(
        max_length=700, widget=forms.TextInput(attrs={"spellcheck": "false", "autocomplete": "off", "list": "places"})
    )
    forgotten = forms.MultipleChoiceField(
        required=False, label="Forget what is stored", widget=forms.CheckboxSelectMultiple
    )

    class Meta:
        model = SourceConnection
        fields = ["name", "private_allowed"]
        help_texts = {
            "name": "How it is called here and on the command line.",
            "private_allowed": "Hosts inside your network, or this machine itself. Cloud metadata never.",
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._base: Base | None = None
        self._settings, self._secrets = _asked_of(self.instance.kind)
        self._stored = self.instance.secrets if self.instance.pk else {}
        self.fields["place"].label, self.fields["place"].help_text = PLACES[self.instance.kind]
        if self.instance.pk:
            self.fields["place"].initial = written(self.instance)
        for name, each in self._settings.items():
            self.fields[name] = _setting(each, self.instance.settings.get(name, ""))
        for name, each in self._secrets.items():
            self.fields[name] = _secret(each, stored=name in self._stored)
        self._offer_to_forget()
        if self.instance.kind == Kind.FOLDER:
            del self.fields["private_allowed"]
        for name, field in self.fields.items():
            field.widget.attrs["class"] = _look_of(name, field)
            if self.is_bound and name in self.errors:
                field.widget.attrs["class"] += " is-invalid"

    def _offer_to_forget(self) -> None:
        if self._stored:
            choices = [(name, each.label) for name, each in self._secrets.items() if name in self._stored]
            self.fields["forgotten"].choices = choices  # type: ignore[attr-defined]
        else:
            del self.fields["forgotten"]

    @property
    def asked(self) -> list[forms.BoundField]:
        """The fields of this kind alone, in the order of importer/connections/settings_schema.py."""
        return [self[name] for name in (*self._settings, *self._secrets)]

    def clean_place(self) -> str:
        text: str = self.cleaned_data["place"]
        if self.instance.kind == Kind.FOLDER and not text.startswith("/"):
            raise ValidationError("Write the folder's whole path, from / on.")
        try:
            self._base = parse_base(text)
        except Problem as problem:
            raise ValidationError(str(problem)) from problem
        if self._base.kind != self.instance.kind:
            raise ValidationError(f"That is a place of another kind: {Kind(self._base.kind).label}.")
        return text

    def clean_header(self) -> str:
        header: str = self.cleaned_data["header"]
        if not re.fullmatch(r"[A-Za-z0-9-]*", header):
            raise ValidationError(f"“{header}” is no header's name: those have letters, digits and - only.")
        return header

    def clean(self) -> dict[str, Any] | None:
        """Stored secrets go only where they were meant to go: another place or account needs them entered again."""
        cleaned = super().clean() or self.cleaned_data
        settings, given = self._entered(self._settings), self._entered(self._secrets)
        signs_in = self.instance.kind != Kind.HTTP or settings.get("auth") in SIGNS_IN
        stays = self._base and manage.leads_there(self.instance, self._base, settings)
        if self._base and self._stored and signs_in and not stays and not given:
            self.add_error(next(iter(self._secrets)), "The place or the account is another one now. Enter it for that.")
        if settings.get("auth") in SIGNS_IN and not given and not set(self._stored) - set(cleaned.get("forgotten", ())):
            self.add_error("password", "Enter it: that way of signing in needs it.")
        if self.instance.kind == Kind.HTTP and not re.fullmatch(r"[ -~]*", given.get("password", "")):
            self.add_error("password", "It has characters that no header can carry.")
        return cleaned

    def _entered(self, among: dict[str, Field]) -> dict[str, str]:
        return {name: self.cleaned_data[name] for name in among if self.cleaned_data.get(name)}

    def save(self, commit: bool = True) -> SourceConnection:
        """Save the connection, with nothing known of it until it is checked."""
        connection: SourceConnection = super().save(commit=False)
        if commit:
            forgotten = dict.fromkeys(self.cleaned_data.get("forgotten", ()), "")
            manage.save(
                connection,
                self.cleaned_data["place"],
                self._entered(self._settings),
                forgotten | self._entered(self._secrets),
                private_allowed=self.cleaned_data.get("private_allowed", False),
            )
        return connection


class _Unshown(forms.Textarea):
    """Several lines that are not sent back to the page."""

    def format_value(self, value: Any) -> str:  # noqa: ARG002
        return ""


def _asked_of(kind: str) -> tuple[dict[str, Field], dict[str, Field]]:
    settings = fields_of(kind, secret=False)
    if kind in WITH_USER:
        del settings["user"]  # It stands in the place.
    return settings, fields_of(kind, secret=True)


def _setting(each: Field, now: str) -> forms.Field:
    label = each.label[:1].upper() + each.label[1:]
    if each.choices:
        choices = [(choice, choice) for choice in each.choices]
        return forms.ChoiceField(label=label, choices=choices, initial=now, required=False)
    attrs = {"spellcheck": "false", "autocomplete": "off"}
    return forms.CharField(label=label, initial=now, required=False, max_length=300, widget=forms.TextInput(attrs))


def _secret(each: Field, *, stored: bool) -> forms.Field:
    attrs = {"spellcheck": "false", "autocomplete": "new-password"}
    long = each.name == "private_key"
    widget = _Unshown({**attrs, "rows": 3}) if long else forms.PasswordInput(attrs)
    said = "Left empty, the stored one stays." if stored else ""
    label = each.label[:1].upper() + each.label[1:]
    return forms.CharField(label=label, help_text=said, required=False, strip=False, max_length=20_000, widget=widget)


def _look_of(name: str, field: forms.Field) -> str:
    if name in ("private_allowed", "forgotten"):
        return "form-check-input"
    return "form-select" if isinstance(field, forms.ChoiceField) else "form-control"

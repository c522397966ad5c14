"""Makes the form of a connection from its kind's declaration."""

from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from dashboard.fields.advice import in_browser
from dashboard.fields.stored_form import StoredModelForm
from dashboard.targets.ca_file import WithCAFile
from importer.connections import connection_settings
from importer.connections.connection_address import format_base, parse_base
from importer.connections.connection_kind import ConnectionField, ParsedBase
from importer.connections.connection_kinds import BY_NAME, kind_of
from importer.engine.errors import Problem
from importer.models import SourceConnection


class ConnectionForm(WithCAFile, StoredModelForm):
    """The form of a connection, with the fields of the instance's kind.

    Stored secrets are never sent back to the page; an edit that leaves a secret empty keeps it.
    """

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
            "name": "Name used here and on the command line.",
            "private_allowed": "Hosts inside your network, or this machine itself. Cloud metadata never. Only an"
            " admin allows it, or changes such a connection.",
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._base: ParsedBase | None = None
        self._kind = kind_of(self.instance)
        self._settings = {name: each for name, each in self._kind.settings.items() if not each.in_place}
        self._secrets = self._kind.secrets
        self.secrets = tuple(self._secrets)
        self._stored = self.instance.secrets if self.instance.pk else {}
        self.fields["place"].label, self.fields["place"].help_text = self._kind.place_label, self._kind.place_help
        if self.instance.pk:
            self.fields["place"].initial = format_base(self.instance)
        for name, each in self._settings.items():
            self.fields[name] = _setting(each, self.instance.settings.get(name, ""))
        for name, each in self._secrets.items():
            self.fields[name] = _secret(each, stored=name in self._stored)
        self._offer_to_forget()
        if self._kind.local:
            del self.fields["private_allowed"]
        self.style(_css_class)

    def _offer_to_forget(self) -> None:
        if self._stored:
            choices = [(name, each.label) for name, each in self._secrets.items() if name in self._stored]
            self.fields["forgotten"].choices = choices  # type: ignore[attr-defined]
        else:
            del self.fields["forgotten"]

    @property
    def kind_fields(self) -> list[forms.BoundField]:
        """The fields that only this kind of connection has, in their declared order."""
        return [self[each.name] for each in self._kind.fields if not each.in_place]

    def clean_place(self) -> str:
        text: str = self.cleaned_data["place"]
        if problem_of_text := self._kind.check_place(text):
            raise ValidationError(problem_of_text)
        try:
            self._base = parse_base(text)
        except Problem as problem:
            raise ValidationError(str(problem)) from problem
        if self._base.kind != self._kind.name:
            raise ValidationError(f"That is a place of another kind: {BY_NAME[self._base.kind].label}.")
        return text

    def clean(self) -> dict[str, Any] | None:
        """Require secrets again when place or account change: stored ones were entered for the old place."""
        cleaned = super().clean() or self.cleaned_data
        settings, secrets = self._entered(self._settings), self._entered(self._secrets)
        forgotten = cleaned.get("forgotten", ())
        if self._base and not secrets:
            why = connection_settings.wants_secret(self.instance, self._base, settings, forgotten)
            if why:
                self.add_error(next(iter(self._secrets)), why)
        if self._base and cleaned.get("private_allowed"):
            try:
                connection_settings.require_private(self.instance, self._base, settings)
            except Problem as problem:
                self.add_error("private_allowed", in_browser(str(problem)))
        self._check_fields({**settings, **secrets})
        return cleaned

    def _check_fields(self, entered: dict[str, str]) -> None:
        for declared in self._kind.fields:
            if declared.check is None or declared.name not in entered:
                continue
            try:
                declared.check(entered[declared.name])
            except Problem as problem:
                self.add_error(declared.name, in_browser(str(problem)))

    def _entered(self, among: dict[str, ConnectionField]) -> dict[str, str]:
        return {name: self.cleaned_data[name] for name in among if self.cleaned_data.get(name)}

    def save(self, commit: bool = True) -> SourceConnection:
        """Save the connection and discard the findings of its last check; `commit` is as in Django."""
        connection: SourceConnection = super().save(commit=False)
        if commit:
            forgotten = dict.fromkeys(self.cleaned_data.get("forgotten", ()), "")
            connection_settings.save(
                connection,
                self.cleaned_data["place"],
                self._entered(self._settings),
                forgotten | self._entered(self._secrets),
                private_allowed=self.cleaned_data.get("private_allowed", False),
            )
        return connection


class _SecretTextarea(forms.Textarea):
    """A text area that never sends its value back to the page."""

    def format_value(self, value: Any) -> str:  # noqa: ARG002
        return ""


def _setting(each: ConnectionField, now: str) -> forms.Field:
    about: dict[str, Any] = {"label": _label(each), "help_text": each.about, "initial": now, "required": False}
    if each.choices:
        return forms.ChoiceField(choices=list(each.choices.items()), **about)
    attrs = {"spellcheck": "false", "autocomplete": "off"}
    return forms.CharField(max_length=300, widget=forms.TextInput(attrs), **about)


def _label(each: ConnectionField) -> str:
    return each.label[:1].upper() + each.label[1:]


def _secret(each: ConnectionField, *, stored: bool) -> forms.Field:
    attrs = {"spellcheck": "false", "autocomplete": "new-password"}
    widget = _SecretTextarea({**attrs, "rows": 3}) if each.lines else forms.PasswordInput(attrs)
    help_text = f"{each.about} {'Left empty, the stored one stays.' if stored else ''}".strip()
    return forms.CharField(
        label=_label(each), help_text=help_text, required=False, strip=False, max_length=20_000, widget=widget
    )


def _css_class(name: str, field: forms.Field) -> str:
    if name in ("private_allowed", "forgotten"):
        return "form-check-input"
    return "form-select" if isinstance(field, forms.ChoiceField) else "form-control"

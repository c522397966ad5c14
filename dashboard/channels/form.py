"""Makes the form of a channel from its kind's declaration."""

import secrets
from typing import Any

from django import forms

from dashboard.fields.advice import in_browser
from dashboard.fields.stored_form import StoredModelForm
from importer.access.policy import Forbidden, sees_everything
from importer.engine.errors import Problem
from importer.models import Channel
from importer.models.channel import Event
from importer.notifications import channels
from importer.notifications.channel_kind import ChannelField
from importer.notifications.channel_kinds import KINDS, kind_of

ABOUT_ALL = "messages are about all imports."


class _Events(forms.CheckboxSelectMultiple):
    """Boxes for events. If `fixed`, those that are not checked cannot be."""

    fixed = False

    def create_option(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
        option = super().create_option(*args, **kwargs)
        if self.fixed and not option["selected"]:
            option["attrs"]["disabled"] = True
        return option


class ChannelForm(StoredModelForm):
    """The form of a channel, with the fields of the instance's kind.

    A stored secret is never sent back to the page; an edit that leaves it empty keeps it. Who is no admin can neither
    change the destination nor add events.
    """

    events = forms.MultipleChoiceField(required=False, choices=Event.choices, widget=_Events)

    class Meta:
        model = Channel
        fields = ["name", "on", *(name for kind in KINDS for name in kind.columns), "events", "most_rejects"]
        help_texts = {
            "name": "Name used here and on the command line.",
            "most_rejects": "An import with more of them sends a notification. A schedule's own limit comes first.",
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._kind = kind_of(self.instance)
        for name in {name for kind in KINDS for name in kind.columns} - set(self._kind.columns):
            del self.fields[name]
        for declared in self._kind.fields:
            self._apply(declared)
        if not sees_everything():
            self._fix_receivers()
        switches = {"on", "events", *(declared.name for declared in self._kind.fields if declared.switch)}
        self.style(lambda name, _: "form-check-input" if name in switches else "form-control")

    def _apply(self, declared: ChannelField) -> None:
        if declared.secret:
            self.fields[declared.name] = self._secret_field()
        field = self.fields[declared.name]
        field.label, field.help_text = declared.label, declared.help or field.help_text
        if declared.several:
            field.widget = forms.Textarea(attrs={"rows": 3, "spellcheck": "false"})

    def _fix_receivers(self) -> None:
        destination, events = self.fields[self._kind.destination.name], self.fields["events"]
        destination.widget.attrs["readonly"] = events.widget.fixed = True
        destination.help_text = f"Only an admin changes it: {ABOUT_ALL}"
        events.help_text = f"Only an admin adds events: {ABOUT_ALL}"

    def _secret_field(self) -> forms.CharField:
        stored = bool(self.instance.pk)
        return forms.CharField(
            required=False,
            strip=False,
            max_length=256,
            initial=None if stored else secrets.token_urlsafe(32),
            help_text="Left empty, the stored one stays."
            if stored
            else "Copy it now to the receiver: it is not shown again.",
            widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
        )

    @property
    def kind_fields(self) -> list[tuple[forms.BoundField, bool]]:
        """The fields that only this kind of channel has, in the order of its declaration; True for a switch."""
        return [(self[declared.name], declared.switch) for declared in self._kind.fields]

    def clean(self) -> dict[str, Any] | None:
        """Run the check that each field's declaration names."""
        cleaned = super().clean() or self.cleaned_data
        for declared in self._kind.fields:
            value = cleaned.get(declared.name)
            keeps_stored = declared.secret and self.instance.pk and not value
            if declared.check is None or value is None or keeps_stored:
                continue
            try:
                declared.check(value)
            except Problem as problem:
                self.add_error(declared.name, in_browser(str(problem)))
        if not self.errors:
            self._require_allowed(cleaned)
        return cleaned

    def _require_allowed(self, cleaned: dict[str, Any]) -> None:
        try:
            channels.require_not_wider(self.instance, cleaned)
        except Forbidden as problem:
            self.add_error(None, in_browser(str(problem)))
        else:
            self._require_sendable(cleaned)

    def _require_sendable(self, cleaned: dict[str, Any]) -> None:
        try:
            self._kind.require_sendable({name: cleaned[name] for name in self._kind.columns})
        except Problem as problem:
            self.add_error(self._kind.destination.name, in_browser(str(problem)))

    def save(self, commit: bool = True) -> Channel:
        """Save the channel and its secret; with `commit=False`, return it unsaved, as Django does."""
        channel: Channel = super().save(commit=False)
        if not commit:
            return channel
        secret = self.cleaned_data.get(self._kind.secret.name) if self._kind.secret else None
        return channels.save(channel, secret or None)

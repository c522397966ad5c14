"""The form of a channel, and what each field refuses."""

import secrets
from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from importer import notifications
from importer.engine.errors import Problem
from importer.models import Channel
from importer.models.channel import Event
from importer.notifications.channels import check_addresses, check_secret
from importer.security.outbound_addresses import web_url

FIELDS = {Channel.Kind.MAIL: ["addresses"], Channel.Kind.WEBHOOK: ["url", "secret", "private_allowed"]}


class ChannelForm(forms.ModelForm):  # type: ignore[type-arg]
    """A channel of the instance's kind. Its secret only ever goes in: left empty on an edit, it stays as it was."""

    secret = forms.CharField(
        required=False,
        strip=False,
        max_length=256,
        label="Secret to sign with",
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )
    events = forms.MultipleChoiceField(required=False, choices=Event.choices, widget=forms.CheckboxSelectMultiple)

    class Meta:
        model = Channel
        fields = ["name", "on", "addresses", "url", "private_allowed", "events", "most_rejects"]
        widgets = {"addresses": forms.Textarea(attrs={"rows": 3, "spellcheck": "false"})}
        help_texts = {
            "name": "How it is called here and on the command line.",
            "addresses": "Each on a line of its own. All of them see each other.",
            "url": "Where messages are posted to; a redirect is not followed.",
            "private_allowed": "Hosts inside your network, or this machine itself. Cloud metadata never.",
            "most_rejects": "More of them in one import are told. A schedule with a limit of its own goes by that.",
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for kind, names in FIELDS.items():
            if kind != self.instance.kind:
                for name in names:
                    del self.fields[name]
        for name, field in self.fields.items():
            switch = name in ("on", "private_allowed", "events")
            field.widget.attrs["class"] = "form-check-input" if switch else "form-control"
            if self.is_bound and name in self.errors:
                field.widget.attrs["class"] += " is-invalid"
        if "secret" in self.fields:
            self._explain_secret()

    def _explain_secret(self) -> None:
        if self.instance.pk:
            self.fields["secret"].help_text = "Left empty, the stored one stays."
        else:
            self.fields["secret"].initial = secrets.token_urlsafe(32)
            self.fields["secret"].help_text = "Copy it now to the receiver: it is not shown again."

    def clean_addresses(self) -> str:
        return _checked(check_addresses, self.cleaned_data["addresses"])

    def clean_url(self) -> str:
        return _checked(web_url, self.cleaned_data["url"])

    def clean_secret(self) -> str:
        secret: str = self.cleaned_data["secret"]
        return secret if self.instance.pk and not secret else _checked(check_secret, secret)

    def save(self, commit: bool = True) -> Channel:
        """Save the channel; `commit` is as in Django."""
        channel: Channel = super().save(commit=False)
        return notifications.save(channel, self.cleaned_data.get("secret") or None) if commit else channel


def _checked(check: Any, text: str) -> str:
    try:
        check(text)
    except Problem as problem:
        raise ValidationError(str(problem)) from problem
    return text

"""The form of a target, with the checks of its fields."""

import re
from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from dashboard.fields.stored_form import StoredModelForm
from dashboard.targets.ca_file import WithCAFile
from importer.engine.errors import TargetProblem
from importer.engine.mysql.addresses import is_socket
from importer.models import Target
from importer.targets import PLACE, refuse_forbidden, why_it_stays

SWITCHES = ("tls", "clear_password", "needs_approval")


class TargetForm(WithCAFile, StoredModelForm):
    """The form of a target. A stored password is never sent back to the page; an edit that leaves it empty keeps it."""

    secrets = ("password",)
    password = forms.CharField(
        required=False, strip=False, max_length=256, widget=forms.PasswordInput(attrs={"autocomplete": "new-password"})
    )

    class Meta:
        model = Target
        fields = ["name", *Target.PASSWORD_GOES_TO, "ceiling", "label", "needs_approval"]
        widgets = {
            "tls": forms.RadioSelect,
            "user": forms.TextInput(attrs={"autocomplete": "off"}),
            "server_key": forms.Textarea(attrs={"rows": 2, "spellcheck": "false"}),
        }
        help_texts = {
            "name": "Name used here and on the command line.",
            "host": "A host name or an address, without a port; or the path of a Unix socket on this machine.",
            "database": "Where the tables are.",
            "tls_ca": "A file on this machine; empty for the system's own authorities.",
            "server_key": "For a MySQL on another machine with TLS off: -----BEGIN PUBLIC KEY----- and so on, from"
            " SHOW STATUS LIKE 'Caching_sha2_password_rsa_public_key'.",
            "clear_password": "Only with a checked certificate; for accounts of PAM and LDAP.",
            "needs_approval": "Each import and lab waits until somebody else who may load into this target"
            " approves it.",
            "ceiling": "Over all imports into this target together.",
            "label": "Only workers with this label (LOADS) load into it. Empty: those without a label.",
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.instance.pk:
            self.fields["password"].help_text = "Left empty, the stored one stays."
        if "tls" in self.initial and self.initial["tls"] != self.instance.tls:
            chosen = Target.Tls(self.initial["tls"]).label
            self.fields["password"].help_text = f"Chosen for TLS: {chosen}. Enter the password again, and save."
        self.style(lambda name, _: "form-check-input" if name in SWITCHES else "form-control")

    def clean_host(self) -> str:
        host: str = self.cleaned_data["host"]
        if is_socket(host):
            return host
        if "://" in host or "/" in host:
            raise ValidationError(
                f"“{host}” is an address of a page or a path. Enter the host alone, as db.example.org."
            )
        if re.search(r"[\s\x00-\x1f]", host):
            raise ValidationError("A host name has no spaces in it.")
        if "@" in host:
            raise ValidationError("Enter the user in its own field and only the host here.")
        if re.fullmatch(r"[^:]+:\d+", host):
            raise ValidationError("Enter the port in its own field and only the host here.")
        host = host.strip("[]")
        try:
            refuse_forbidden(host)
        except TargetProblem as problem:
            raise ValidationError(str(problem)) from problem
        return host

    def clean_database(self) -> str:
        database: str = self.cleaned_data["database"]
        if re.search(r"[\x00-\x1f/\\]", database):
            raise ValidationError("A database's name has no slashes and no control characters.")
        return database

    def clean(self) -> dict[str, Any] | None:
        """Require the password again where it would go elsewhere: the stored one was entered for the old values."""
        moved = [str(self.fields[name].label or name) for name in Target.PASSWORD_GOES_TO if name in self.changed_data]
        if self.instance.password_ciphertext and moved and not self.cleaned_data.get("password"):
            self.add_error("password", f"Changed: {', '.join(moved)}. Enter the password again.")
        if problem := why_it_stays(self.instance, self.changed_data):
            self.add_error(next(each for each in PLACE if each in self.changed_data), str(problem))
        return super().clean()

    def save(self, commit: bool = True) -> Target:
        target: Target = super().save(commit=False)
        if self.cleaned_data["password"]:
            target.set_password(self.cleaned_data["password"])
        if set(self.changed_data) - {"needs_approval", "label"}:
            # The findings are about the old values.
            target.findings, target.checked_at = [], None
        if commit:
            target.save()
        return target

"""The form fields of what a lab loads: an earlier import, or a file with its preset, target and table."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django import forms
from django.contrib.humanize.templatetags.humanize import naturaltime
from django.urls import reverse
from django.utils.html import format_html

from dashboard.formatting import size
from importer.models import ImportJob, MappingPreset, SourceFile, Target


def _select() -> forms.Select:
    return forms.Select(attrs={"class": "form-select"})


@dataclass(frozen=True)
class Loadable:
    """What may be chosen: earlier imports and files, the newest first, and presets for the chosen file's header."""

    jobs: Sequence[ImportJob]
    files: Sequence[SourceFile]
    presets: Sequence[MappingPreset]
    targets: Sequence[Target]


class LoadForm(forms.Form):
    """An import takes the place of a file; a file that is chosen has a preset, if there is one, a target and a table.

    The page of a lab says what is wrong with them, when it has read file and table.
    """

    job = forms.ChoiceField(
        label="Settings of an earlier import",
        help_text="Its file, format, columns and options.",
        required=False,
        widget=_select(),
    )
    source = forms.ChoiceField(label="Or a file", required=False, widget=_select())
    preset = forms.ChoiceField(label="Preset", required=False, widget=_select())
    target = forms.ChoiceField(label="Target", required=False, widget=_select())
    table = forms.CharField(
        label="Table",
        required=False,
        widget=forms.TextInput(
            attrs={
                "class": "form-control",
                "list": "lab-tables",
                "placeholder": "an existing table",
                "spellcheck": "false",
            }
        ),
    )

    def __init__(self, offered: Loadable, chosen: dict[str, Any]) -> None:
        """`chosen`: the chosen import, file, preset and target, None without one, and the name of the table."""
        shown = {name: each if name == "table" else _key(each) for name, each in chosen.items()}
        super().__init__(initial=shown, auto_id="lab-%s")
        self._offer("job", _jobs(offered.jobs, chosen["job"]))
        self._offer("source", _files(offered.files))
        self._offer("preset", [("", "None: detect from the file"), *((each.pk, each.name) for each in offered.presets)])
        self._offer("target", [(each.pk, f"{each.name} · {each.database}") for each in offered.targets])
        if chosen["job"]:
            self.fields["job"].help_text = f"{_job_in_words(chosen['job'])}: its file, format, columns and options."
        self.fields["source"].help_text = format_html(
            'A new file? <a href="{}">Upload it</a> first; it need not be imported.', reverse("new")
        )
        for name in self._unused(chosen, has_presets=bool(offered.presets)):
            del self.fields[name]

    def _offer(self, name: str, choices: Iterable[tuple[Any, str]]) -> None:
        self.fields[name].choices = list(choices)  # type: ignore[attr-defined]

    @staticmethod
    def _unused(chosen: dict[str, Any], *, has_presets: bool) -> list[str]:
        """The fields that the page does not have, because of what is chosen."""
        if chosen["job"]:
            return ["source", "preset", "target", "table"]
        if not chosen["source"]:
            return ["preset", "target", "table"]
        return [] if has_presets else ["preset"]


def _key(chosen: Any) -> Any:
    """The value of the option of a chosen import, file, preset or target."""
    return str(chosen.key) if isinstance(chosen, SourceFile) else chosen.pk if chosen else ""


def _jobs(jobs: Sequence[ImportJob], chosen: ImportJob | None) -> list[tuple[Any, str]]:
    """The options of the earlier imports, of which the chosen one may be older than those that are offered."""
    known = [*([chosen] if chosen and chosen not in jobs else []), *jobs]
    first = "Choose an import, or a file" if known else "No imports yet"
    # In few words: a closed list cuts more on a phone. The rest is said below it.
    return [("", first), *((each.pk, f"Import {each.pk}: {each.source.name}") for each in known)]


def _job_in_words(job: ImportJob) -> str:
    return f"Import {job.pk}: {job.source.name} → {job.table} on {job.target.name}, {naturaltime(job.created_at)}"


def _files(files: Sequence[SourceFile]) -> list[tuple[Any, str]]:
    words = [(str(each.key), f"{each.name}, {size(each.size)}, {naturaltime(each.created_at)}") for each in files]
    return [("", "Choose a file" if files else "No uploaded files"), *words]

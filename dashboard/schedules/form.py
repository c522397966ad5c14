"""The form of a schedule. importer.schedules.validation decides what is valid."""

import re
from dataclasses import fields
from pathlib import PurePath
from typing import Any

from django import forms

from dashboard.fields.stored_form import StoredModelForm
from importer.access.policy import seen
from importer.engine.errors import Problem
from importer.engine.plan.options import DEFAULT_LIMIT_WORDS, Options
from importer.models import Schedule, SourceConnection
from importer.schedules import ScheduleRequest
from importer.schedules.commands import DEFAULT_LIMIT, NO_LIMIT

CRONS = {
    "30 2 * * *": "every night at 02:30",
    "0 6 * * 1-5": "at 06:00 from Monday to Friday",
    "0 * * * *": "every hour",
    "*/15 * * * *": "every quarter of an hour",
    "0 7 * * 1": "on Mondays at 07:00",
    "0 4 1 * *": "on the first of each month at 04:00",
}
_RADIO = ("trigger", "no_file", "afterwards", "drift", "known_by", "overlap", "misfire")


class ScheduleForm(StoredModelForm):
    """The form of a schedule, without dialect, mapping, target and options: those come from an import or a preset."""

    class Meta:
        model = Schedule
        fields = [each.name for each in fields(ScheduleRequest)]
        widgets = dict.fromkeys(_RADIO, forms.RadioSelect) | {
            "cron": forms.TextInput(attrs={"spellcheck": "false", "autocomplete": "off"}),
            "zone": forms.TextInput(attrs={"list": "schedule-zones", "spellcheck": "false", "autocomplete": "off"}),
            "pattern": forms.TextInput(attrs={"spellcheck": "false", "autocomplete": "off"}),
        }
        labels = {
            "connection": "Connection",
            "pattern": "Files",
            "subfolders": "In subfolders too",
            "trigger": "When",
            "cron": "When (cron)",
            "every_minutes": "Interval in minutes",
            "zone": "Time zone",
            "overlap": "If a run is due while another is under way",
            "misfire": "If due times were missed, as when the server was off",
            "misfire_most": "Runs to make up for at most",
            "most_attempts": "Attempts in all",
            "backoff_seconds": "Seconds to the second attempt",
            "deadline_minutes": "Time limit in minutes",
            "no_file": "If there is no file, that",
            "known_by": "A file was loaded before if it is the same by",
            "afterwards": "A file that was loaded",
            "move_to": "Folder",
            "drift": "If header or table have changed",
            "lateness_minutes": "Late after, in minutes",
            "rejects_limit": "Notify if more rows are rejected than",
        }
        help_texts = {
            "pattern": "* stands for any characters: orders-*.csv. {date:%Y%m%d} is the day that is due, "
            "{date-1d:%Y%m%d} the day before.",
            "cron": "Minute, hour, day of the month, month, day of the week: 30 2 * * * is every night at 02:30. The"
            " next times are shown while you type.",
            "zone": "Of the times above, and of dates in the name.",
            "move_to": "Below the connection's own, as loaded/{date:%Y-%m}: with dates as in the name of the files.",
            "backoff_seconds": "Then twice as long each time. Only what may pass by itself is tried again.",
            "deadline_minutes": "A run that takes longer is ended. Empty: no limit.",
            "lateness_minutes": "A run that has not ended this long after its due time sends a notification.",
            "rejects_limit": "In the successful imports of a run. Empty: the limit of each channel.",
        }

    # Asked only if the import or preset that is copied has no limit of rejected rows.
    reject_limit = forms.ChoiceField(
        choices=(
            (DEFAULT_LIMIT, f"fails if it rejects more than {DEFAULT_LIMIT_WORDS}"),
            (NO_LIMIT, "may reject any number of rows"),
        ),
        widget=forms.RadioSelect(attrs={"class": "form-check-input"}),
        label="What is copied has no limit of rejected rows. Each import of the schedule",
        error_messages={"required": "Choose one: the rejected rows of an import are not in the table."},
    )

    def __init__(self, *args: Any, asks_limit: bool = False, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if not asks_limit:
            del self.fields["reject_limit"]
        connections = seen(SourceConnection.objects.order_by("name"))
        self.fields["connection"].queryset = connections  # type: ignore[attr-defined]
        # Without the empty choice, which Django offers for a field without a default.
        self.fields["trigger"].choices = Schedule.Trigger.choices  # type: ignore[attr-defined]
        self.fields["trigger"].initial = Schedule.Trigger.ARRIVAL
        self.style(_css_class)

    def tell_of(self, options: Options) -> None:
        """Say of the fields what these options of the imports make of them."""
        if options.on_error != "reject":
            self.fields["rejects_limit"].help_text = "This schedule stops at the first invalid row: it rejects none."

    def schedule_request(self) -> ScheduleRequest:
        """The request that the form makes; the form must be valid."""
        return ScheduleRequest(**{each.name: self.cleaned_data[each.name] for each in fields(ScheduleRequest)})

    @property
    def no_limit(self) -> bool:
        """Whether each import may reject any number of rows, as was answered; the form must be valid."""
        return self.cleaned_data.get("reject_limit") == NO_LIMIT

    def refuse(self, problem: Problem) -> None:
        """Show a problem at its field, or above all fields."""
        field = problem.option if problem.option in self.fields else None
        self.add_error(field, f"{problem.what} {problem.advice}".strip())
        if field:
            self.fields[field].widget.attrs["class"] += " is-invalid"


def _css_class(name: str, _: forms.Field) -> str:
    if name in (*_RADIO, "reject_limit", "subfolders"):
        return "form-check-input"
    return "form-select" if name == "connection" else "form-control"


def suggested_pattern(file: str) -> str:
    """A pattern for files with a similar name: parts that look like a date or a number may differ.

    orders-20261120.csv -> orders-*.csv; flights.csv.gz -> flights*.csv.gz.
    """
    stem, dot, endings = PurePath(file).name.partition(".")
    varied = re.sub(r"\d+(?:[-_:]\d+)*", "*", stem)
    return f"{varied if '*' in varied else f'{varied}*'}{dot}{endings}"

"""The policies: what is in force, and who may change it."""

from io import StringIO

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.core.management import CommandError, call_command

from config.environment import days
from importer.access.acting import acting_as
from importer.access.policy import Forbidden
from importer.engine.errors import Problem
from importer.models import AuditEvent
from importer.retention import policies
from tests.documents import read
from tests.people import admin, operator

pytestmark = pytest.mark.django_db


def said(*words: str) -> str:
    out = StringIO()
    call_command("retention", *words, stdout=out)
    return out.getvalue()


def test_the_setting_is_in_force_until_an_admin_changes_it_and_again_when_the_change_is_taken_back():
    assert (policies.in_force("chunks").days, policies.in_force("chunks").source) == (90, "the default")
    with acting_as(admin("root")):
        changed = policies.change("chunks", "12")
        assert changed.days == 12
        assert "changed by root on 2" in changed.source
        assert policies.change("chunks", "keep").days is None
        assert policies.change("chunks", "").source == "the default"


def test_a_setting_of_the_environment_is_told_as_such(settings, monkeypatch):
    monkeypatch.setitem(policies.days_settings, "CHUNKS_DAYS", policies.DaysSetting(90, 1, stated=True))
    settings.CHUNKS_DAYS = None
    found = policies.in_force("chunks")
    assert (found.words, found.source) == ("for ever", "the setting CHUNKS_DAYS")


@pytest.mark.parametrize("text", ["-1", "1.5", "soon", "99999999999", "٣", "29"])
def test_a_number_that_is_not_possible_is_refused_with_what_is(text):
    with pytest.raises(Problem, match="from 30 to 36500, or keep"):
        policies.change("ledger", text)
    assert policies.in_force("ledger").days == 90


def test_imported_files_alone_can_be_deleted_at_once():
    assert policies.change("imported-files", "0").words == "at once"
    with pytest.raises(Problem, match="from 1 to"):
        policies.change("chunks", "0")


def test_only_admins_change_a_policy():
    with acting_as(operator("olga")), pytest.raises(Forbidden, match="Only admins may change what is kept"):
        policies.change("chunks", "12")


@pytest.mark.parametrize("text", ["0", "x", "-3", "40000", ""])
def test_a_wrong_setting_stops_the_start_with_its_name(monkeypatch, text):
    monkeypatch.setenv("CHUNKS_DAYS", text)
    with pytest.raises(ImproperlyConfigured, match="CHUNKS_DAYS: write 1 to 36500 days, or keep"):
        days("CHUNKS_DAYS", default=90)
    monkeypatch.setenv("CHUNKS_DAYS", "keep")
    assert days("CHUNKS_DAYS", default=90) is None
    monkeypatch.delenv("CHUNKS_DAYS")
    days("CHUNKS_DAYS", default=90)


class TestCommand:
    def test_show_names_every_policy_with_its_days_and_their_source(self):
        lines = said("show").splitlines()
        assert [line.partition(":")[0] for line in lines] == list(policies.POLICIES)
        assert "imported-files: 7 days (the default)." in lines[0]
        found = {each["name"]: each for each in read(said("show", "--json"))["policies"]}
        assert (found["ledger"]["days"], found["ledger"]["least"]) == (90, 30)

    def test_a_change_is_in_force_and_in_the_audit_log_with_old_and_new(self):
        assert said("set", "chunks", "12").startswith("chunks: 12 days (changed")
        event = AuditEvent.objects.get()
        assert event.details["days"] == {"old": "90", "new": "12"}
        assert event.details["policy"] == "chunks"
        assert "90 days (the default)" in said("set", "chunks", "default")

    def test_a_wrong_number_is_refused_in_one_line(self):
        with pytest.raises(CommandError, match="a number of days from 1 to 36500, or keep"):
            said("set", "chunks", "never")

    def test_run_says_what_was_deleted(self):
        assert said("run") == "Nothing is to be deleted.\n"

"""Each person reads times in a zone of their own: on pages, in charts, filters and exports, through clock changes."""

import csv
from datetime import UTC, datetime
from io import StringIO

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from importer.access.time_zones import set_time_zone
from importer.jobs.record import write_record
from importer.models import AuditEvent, ImportJob, JobFact, Person
from tests.dashboard.job_data import make_job
from tests.documents import read
from tests.people import admin, operator

pytestmark = pytest.mark.django_db
VIENNA = "Europe/Vienna"
# Around the hour that the clocks in Vienna skip (01:00 UTC) and around the one that they repeat, in UTC.
MOMENTS = {
    datetime(2026, 3, 29, 0, 59, tzinfo=UTC): ("2026-03-29 01:59:00", "+01:00"),
    datetime(2026, 3, 29, 1, 0, tzinfo=UTC): ("2026-03-29 03:00:00", "+02:00"),
    datetime(2026, 10, 25, 0, 30, tzinfo=UTC): ("2026-10-25 02:30:00", "+02:00"),
    datetime(2026, 10, 25, 1, 30, tzinfo=UTC): ("2026-10-25 02:30:00", "+01:00"),
    datetime(2026, 12, 31, 23, 30, tzinfo=UTC): ("2027-01-01 00:30:00", "+01:00"),
}


@pytest.fixture
def ann(client):
    user = admin("ann")
    client.force_login(user)
    return user


def save(client, zone):
    return client.post(reverse("account_own"), {"time_zone": zone})


class TestOwnPage:
    def test_a_zone_is_saved_and_shown(self, client, ann):
        assert "There is no time zone" not in client.get(reverse("account_own")).content.decode()
        assert save(client, VIENNA)["Location"] == reverse("account_own")
        page = client.get(reverse("account_own")).content.decode()
        assert f'value="{VIENNA}"' in page
        assert f"in {VIENNA}." in page
        assert f'data-time-zone="{VIENNA}"' in page
        assert f"Times are in {VIENNA}." in client.get(reverse("history")).text
        assert Person.objects.get(user=ann).role == "admin"
        event = AuditEvent.objects.get(action="account_own")
        assert (event.object_name, event.details) == ("ann", {"time_zone": VIENNA})

    @pytest.mark.parametrize("wrong", ["Europe/Wien", "../../etc/passwd", "x" * 65, "+01:00", "europe/vienna"])
    def test_another_one_is_refused_beside_its_field(self, client, ann, wrong):
        answer = save(client, wrong)
        assert answer.status_code == 422
        assert answer.context["form"].errors["time_zone"]
        assert ann.person.time_zone == ""

    def test_a_misspelt_one_is_answered_with_the_right_one(self, client, ann):
        assert "Perhaps Europe/Vienna" in save(client, "europe/vienna").content.decode()

    def test_none_is_that_of_the_installation(self, client, ann, settings):
        settings.TIME_ZONE = "Asia/Tokyo"
        save(client, VIENNA)
        save(client, "")
        assert 'data-time-zone="Asia/Tokyo"' in client.get(reverse("jobs")).content.decode()

    def test_an_account_without_a_role_of_its_own_keeps_what_it_may(self, client):
        root = User.objects.create_superuser("root")
        client.force_login(root)
        save(client, VIENNA)
        assert client.get(reverse("people")).status_code == 200
        assert root.person.time_zone == VIENNA

    def test_one_that_the_system_no_longer_knows_is_that_of_the_installation(self, client, ann):
        Person.objects.filter(user=ann).update(time_zone="Mars/Olympus")
        assert 'data-time-zone="UTC"' in client.get(reverse("jobs")).content.decode()


class TestPages:
    @pytest.mark.parametrize("moment", MOMENTS, ids=str)
    def test_show_the_readers_time_and_nobody_elses(self, client, ann, moment):
        job = make_job(chunks=1)
        ImportJob.objects.update(created_at=moment)
        local, offset = MOMENTS[moment]
        other = Client()
        other.force_login(operator("bob"))
        set_time_zone(ann, VIENNA)
        for address in (reverse("jobs"), reverse("job", args=[job.pk])):
            assert f"{local[:10]}T{local[11:]}{offset}" in client.get(address).content.decode()
            assert moment.isoformat() in other.get(address).content.decode()
        assert local in client.get(reverse("jobs")).content.decode()

    def test_of_a_schedule_keep_its_own_zone(self, client, ann):
        set_time_zone(ann, "Asia/Tokyo")
        query = {"trigger": "cron", "cron": "30 2 * * *", "zone": VIENNA}
        preview = client.get(reverse("schedule_preview"), query).content.decode()
        assert "02:30" in preview
        assert "+09:00" not in preview

    @pytest.mark.parametrize("zone", [VIENNA, "America/New_York"])
    def test_the_first_and_the_last_day_of_all_narrow_nothing(self, client, ann, zone):
        """A browser sends 0001-01-01 while somebody types 1.1.1999."""
        make_job(chunks=1)
        set_time_zone(ann, zone)
        for address in (reverse("jobs"), reverse("audit")):
            for days in ({"first": "0001-01-01", "from": "0001-01-01"}, {"last": "9999-12-31", "to": "9999-12-31"}):
                assert client.get(address, days).status_code == 200
        assert "1 found" in client.get(reverse("jobs"), {"first": "0001-01-01", "last": "9999-12-31"}).text


class TestExports:
    @pytest.mark.parametrize("moment", MOMENTS, ids=str)
    def test_of_the_history_have_the_readers_time(self, client, ann, moment):
        set_time_zone(ann, VIENNA)
        job = make_job(chunks=1, status="succeeded", finished_at=moment)
        write_record(job.pk)
        assert JobFact.objects.filter(name="ended").exists()
        local, offset = MOMENTS[moment]
        written = f"{local.replace(' ', 'T')}.000{offset}"
        query = {"columns": "job,ended"}
        lines = csv.DictReader(StringIO(client.get(reverse("history_csv"), query).getvalue().decode()))
        assert [each["ended"] for each in lines] == [written]
        assert [each["ended"] for each in read(client.get(reverse("history_json"), query).getvalue())["jobs"]] == [
            written
        ]
        assert local in client.get(reverse("history"), query).content.decode()

    def test_of_the_audit_log_and_its_days_are_the_readers(self, client, ann):
        set_time_zone(ann, VIENNA)
        for moment in MOMENTS:
            AuditEvent(action="job_pause", at=moment, actor_name="ann").save()
        answer = client.get(reverse("audit_csv"), {"action": "job_pause", "from": "2027-01-01"})
        lines = list(csv.reader(StringIO(answer.getvalue().decode())))
        assert [line[0] for line in lines[1:]] == ["2027-01-01T00:30:00+01:00"]
        assert "2027-01-01 00:30:00" in client.get(reverse("audit"), {"action": "job_pause"}).content.decode()


def test_the_next_request_of_nobody_is_in_the_zone_of_the_installation(client, ann):
    set_time_zone(ann, VIENNA)
    assert f'data-time-zone="{VIENNA}"' in client.get(reverse("jobs")).content.decode()
    assert 'data-time-zone="UTC"' in Client().get(reverse("login")).content.decode()

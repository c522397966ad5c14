"""Other imports into the same table are named where somebody works on one of them, or is about to start another."""

import pytest
from django.test import Client
from django.urls import reverse

from importer.access.acting import acting_as
from importer.jobs.same_table import imports_under_way
from importer.models import ImportJob
from tests.dashboard.job_data import Status, make_job
from tests.people import operator, stranger

pytestmark = pytest.mark.django_db


def test_those_that_have_not_ended_are_named_the_one_that_has_the_table_first(client: Client):
    waiting = make_job(Status.WAITING, chunks=1, loaded=0)
    loading = make_job(Status.LOADING, chunks=2)
    ImportJob.objects.filter(pk=loading.pk).update(table_claim=f"{loading.target_id}:osm.nodes")
    make_job(Status.SUCCEEDED, chunks=1)
    make_job(Status.LOADING, chunks=1, table="ways")
    found = imports_under_way(loading.target, "osm", "nodes")
    assert ([each.pk for each in found.named], found.further) == ([loading.pk, waiting.pk], 0)
    client.force_login(operator("olga"))
    page = client.get(reverse("job", args=[waiting.pk])).text
    assert (
        f'Other imports into osm.nodes are under way:</strong> <a class="alert-link" href="/jobs/{loading.pk}/">'
        in page
    )
    live = client.get(reverse("job_live", args=[loading.pk]), headers={"HX-Request": "true"}).text
    assert (
        f'href="/jobs/{waiting.pk}/">import {waiting.pk}</a> of nodes-2026-11-20.csv (waiting). One at a time' in live
    )


def test_one_that_may_load_the_same_file_is_a_reason_not_to_run_another_again(client: Client):
    client.force_login(operator("olga"))
    ended, paused = make_job(Status.CANCELLED, chunks=2), make_job(Status.PAUSED, chunks=2)
    said = f"Import {paused.pk} is of a file of the same name: run only one of the two."
    assert said in client.get(reverse("job", args=[ended.pk])).text
    paused.source.name = "ways.csv"
    paused.source.save()
    assert "of the same name" not in client.get(reverse("job", args=[ended.pk])).text


def test_an_import_that_may_not_be_seen_is_only_counted():
    hidden = make_job(Status.LOADING, chunks=1)
    with acting_as(stranger("sam")):
        found = imports_under_way(hidden.target, "osm", "nodes")
    assert (found.named, found.further) == ((), 1)

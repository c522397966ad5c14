"""The card that tells how long each chunk took."""

import json
import re

from django.urls import reverse

from importer.models import Chunk
from tests.dashboard.job_data import Status, make_job


def test_chunk_timings_in_words_a_chart_and_a_table(browser, db):
    job = make_job(Status.SUCCEEDED, chunks=12)
    timings = {"connect": 0.01, "load": 0.8, "commit": 0.02}
    Chunk.objects.filter(job=job).update(timings=timings)
    Chunk.objects.filter(job=job, number=7).update(timings=timings | {"commit": 2.5}, attempt=3, rejected_rows=4)
    page = browser.get(reverse("job_timings", args=[job.pk])).text
    assert "The median of 12 chunks is 0.83 s." in page
    assert re.search(r"The slowest, chunk 7, took 3.31 s, 3.99 times as long, 2.50 s of it in\s+<em>Commit</em>", page)
    assert "1 was retried. 1 had rejected rows." in page
    assert reverse("job_problem_chunks", args=[job.pk, 7, 7]) in page
    chart = json.loads(re.search(r'id="timings-data"[^>]*>(.*?)</script>', page)[1])
    assert chart["points"][7] == [7, 7, [0.01, 0, 0, 0.8, 0, 2.5], 3.31, 1, 4]
    assert len(chart["phases"]) == len(chart["points"][0][2])


def test_it_comes_with_the_end_of_an_import_that_has_loaded_something(browser, db):
    running, ended = make_job(chunks=4), make_job(Status.SUCCEEDED, chunks=4)
    assert reverse("job_timings", args=[running.pk]) not in browser.get(reverse("job", args=[running.pk])).text
    assert reverse("job_timings", args=[ended.pk]) in browser.get(reverse("job_live", args=[ended.pk])).text
    failed = make_job(Status.FAILED, chunks=4, loaded=0)
    assert reverse("job_timings", args=[failed.pk]) not in browser.get(reverse("job", args=[failed.pk])).text
    assert "No chunk was loaded." in browser.get(reverse("job_timings", args=[failed.pk])).text

"""The page that compares imports: the requested imports, and the problems of those that cannot be compared."""

import pytest
from django.urls import reverse

from bench.workloads.sample_history import seed
from dashboard.jobs.compare import Cell
from dashboard.jobs.peer_comparison import address, peer_comparison
from importer.history.compare import compare
from importer.history.regressions import RATE
from importer.jobs.record import write_record
from importer.models import ImportJob, JobFact, JobRecord
from tests.dashboard.job_data import Status, make_job


@pytest.fixture
def made(db) -> list[int]:
    for _ in seed(6, 30, tables=1):
        pass
    return list(ImportJob.objects.order_by("pk").values_list("pk", flat=True))


def test_what_differs_stands_first_and_the_rest_on_request(browser, made):
    first, second = made[:2]
    found = compare([first, second])
    page = browser.get(address([first, second]))
    assert page.status_code == 200
    shown = [line.title for _, lines in page.context["settings"] for line in lines]
    titles = [each.fact.title for each in found.settings]
    assert shown == [each for each in titles if each.removesuffix(", requested") not in {*titles} - {each}]
    assert {"Rows in the file", "Order of the rows"} & set(shown) == {"Rows in the file"}
    assert page.context["alike"] == []
    every = browser.get(page.context["other_view"])
    assert [line.title for _, lines in every.context["alike"] for line in lines] == [e.fact.title for e in found.alike]
    assert every.context["other_view"] == address([first, second])


def test_what_was_asked_for_is_not_told_again_beside_what_was_chosen(browser, made):
    for name in ("method", "asked_method", "indexes", "asked_indexes"):
        JobFact.objects.filter(name=name, record_id__in=made[:2]).delete()
    for job, word in zip(made[:2], ("insert", "load_data_local"), strict=True):
        for name, text in (("method", word), ("asked_method", word), ("indexes", "keep"), ("asked_indexes", word)):
            JobFact.objects.create(record_id=job, name=name, text=text)
    groups = browser.get(address(made[:2])).context["settings"]
    shown = {line.title for _, lines in groups for line in lines}
    assert shown & {"Method", "Method, requested"} == {"Method"}
    assert [cell.words for cell in groups[0][1][0].cells] == ["INSERT", "LOAD DATA LOCAL"]
    # What made no difference is.
    assert shown & {"Secondary indexes", "Secondary indexes, requested"} == {"Secondary indexes, requested"}


@pytest.mark.parametrize(("times", "apart"), [(None, False), (1.0, False), (0.95, False), (1.11, True), (0.9, True)])
def test_a_ratio_stands_out_from_what_runs_of_one_import_differ_by(times, apart):
    assert Cell("5 s", times=times).is_apart is apart


def test_what_became_of_the_rows_stands_there(browser, made):
    first, second = made[:2]
    for job, name, number in ((first, "loaded_rows", 7), (second, "loaded_rows", 5), (second, "rejected_rows", 2)):
        JobFact.objects.update_or_create(record_id=job, name=name, defaults={"number": number, "text": ""})
    JobFact.objects.filter(name="replaced_rows").update(number=0)
    ((title, lines),) = browser.get(address([first, second])).context["results"]
    shown = {line.title: [cell.words for cell in line.cells] for line in lines}
    assert (title, shown["Rows loaded"], shown["Rows rejected"][1]) == ("What became of the rows", ["7", "5"], "2")
    assert "Rows replaced" not in shown


def test_how_sure_it_is_stands_in_words(browser, made):
    fast, slow = made[:2]
    for name in ("settings_digest", "method"):
        JobFact.objects.filter(name=name, record_id__in=made[:2]).update(text=name)
    said = compare([fast, slow]).verdicts[0]
    assert (said.clear, "both are among 2 runs of the same" in said.words) == (False, True)
    JobFact.objects.create(record_id=slow, name="slower_than_like", number=1, text="")
    page = browser.get(address([fast, slow])).text
    assert "This one is clearly slower than the imports like it before." in page


@pytest.mark.parametrize(
    ("requested", "said"),
    [
        (["1x"], "“1x” is not the number of an import"),
        (["4000000000000000"], "is not the number of an import"),
        (["99999"], "There is no import 99999."),
        ([str(n) for n in range(90_000, 90_007)], "At most 6 imports can be compared; left out: 90006."),
    ],
)
def test_what_cannot_be_compared_is_said_where_the_rest_is_shown(browser, made, requested, said):
    page = browser.get(reverse("history_compare"), {"jobs": [*map(str, made[:2]), *requested]})
    alone = browser.get(reverse("history_compare"), {"jobs": requested})
    if len(requested) == 1:
        assert (page.status_code, len(page.context["columns"]), said in page.text) == (200, 2, True)
    assert (alone.status_code, "columns" in alone.context, said in alone.text) == (400, False, True)


def test_one_that_runs_or_has_no_record_has_nothing_to_compare_yet(browser, made):
    running, fresh = make_job(chunks=1), make_job(Status.SUCCEEDED, chunks=1)
    page = browser.get(address([*made[:2], running.pk, fresh.pk]))
    assert f"Import {running.pk} has not ended." in page.text
    assert f"What is kept of import {fresh.pk} is not written down yet." in page.text
    assert len(page.context["columns"]) == 2


def test_a_job_page_offers_the_import_before_and_those_like_it(browser, db):
    one, other, _elsewhere = (make_job(Status.SUCCEEDED, chunks=1, table=table) for table in ("a", "a", "b"))
    for job in ImportJob.objects.all():
        write_record(job.pk)
    assert peer_comparison(one) is None
    assert peer_comparison(other).with_previous == peer_comparison(other).with_peers == address([one.pk, other.pk])
    assert address([one.pk, other.pk]).replace("&", "&amp;") in browser.get(reverse("job", args=[other.pk])).text


def test_a_slow_import_is_marked_in_the_list_and_explained_on_its_page(browser, made):
    job = made[-1]
    values = {"slower_than_like": 1, "like_imports": 7, "like_rows_per_second": 398_000, RATE: 187_000}
    for name, number in values.items():
        JobFact.objects.update_or_create(record_id=job, name=name, defaults={"number": number, "text": ""})
    changed = [{"fact": "server_innodb_flush_log_at_trx_commit", "before": 2, "after": 1}]
    JobRecord.objects.filter(pk=job).update(changed=changed)
    page = browser.get(reverse("job", args=[job])).text
    assert "187k rows/s against a median of 398k of 7 imports." in page
    assert "innodb_flush_log_at_trx_commit 2 → 1" in page
    assert browser.get(reverse("jobs")).text.count("slower than similar imports") == 1

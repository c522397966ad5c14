"""The page that compares imports: the requested imports, and the problems of those that cannot be compared."""

import pytest
from django.urls import reverse

from bench.workloads.sample_history import seed
from dashboard.jobs.compare import against_first
from dashboard.jobs.peer_comparison import address, peer_comparison
from importer.history.compare import compare
from importer.history.facts import Kind, is_shadow
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
    differing = [each.fact for each in found.settings]
    titles = [each.title for each in differing if not is_shadow(each, differing)]
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
    assert "187k rows/s against 398k, the median of 7 imports like it before." in page
    assert "innodb_flush_log_at_trx_commit 2 → 1" in page
    assert browser.get(reverse("jobs")).text.count("slower than similar imports") == 1


@pytest.mark.parametrize(
    ("kind", "value", "first", "said"),
    [
        (Kind.ROWS_PER_SECOND, 991, 1717, "1.7 times slower"),
        (Kind.BYTES_PER_SECOND, 3000.0, 1000.0, "3.0 times faster"),
        (Kind.SECONDS, 0.116, 0.175, "1.5 times shorter"),
        (Kind.SECONDS, 40.0, 20.0, "2.0 times longer"),
        # No difference that counts: what runs of one import differ by, some milliseconds, nothing at all, a number.
        (Kind.ROWS_PER_SECOND, 105, 100, ""),
        (Kind.SECONDS, 0.009, 0.004, ""),
        (Kind.SECONDS, 0.0, 4.0, ""),
        (Kind.SECONDS, 4.0, None, ""),
        (Kind.NUMBER, 8, 2, ""),
    ],
)
def test_a_timing_is_called_better_or_worse_where_the_difference_counts(kind, value, first, said):
    assert against_first(kind, value, first) == said


def told(browser, jobs: list[int], part: str) -> dict[str, list[str]]:
    """What one part of the comparison says of each fact: the values in words."""
    groups = browser.get(address(jobs)).context[part]
    return {
        line.title: [f"{cell.words} {cell.why}".strip() for cell in line.cells] for _, lines in groups for line in lines
    }


def test_a_cause_stands_there_without_what_follows_from_it(browser, made):
    values = {"parallelism": (2, 1), "planned_parallelism": (2, 1), "ordered": (0, 1), "deferred_indexes": (2, 0)}
    for name, numbers in {**values, "indexes": ("defer", "keep")}.items():
        for job, value in zip(made[:2], numbers, strict=True):
            kept = {"number": None, "text": value} if isinstance(value, str) else {"number": value, "text": ""}
            JobFact.objects.update_or_create(record_id=job, name=name, defaults=kept)
    said = told(browser, made[:2], "settings")
    shadows = {"Parallel chunks, as planned", "One chunk after another", "Indexes deferred"}
    assert {"Parallel chunks", "Secondary indexes"} <= set(said)
    assert not shadows & set(said)
    # Where the cause is the same, what should follow from it is news.
    JobFact.objects.filter(name="indexes").update(text="defer")
    assert "Indexes deferred" in told(browser, made[:2], "settings")


def test_reasons_are_named_and_not_counted(browser, made):
    first, second = made[:2]
    for job, number in ((first, 0), (second, 2)):
        for name in ("held_back", "reject_reasons"):
            JobFact.objects.update_or_create(record_id=job, name=name, defaults={"number": number, "text": ""})
    why = {"choice": "One chunk after another", "why": "MyISAM lets one session write", "option": "parallelism"}
    JobRecord.objects.filter(pk=second).update(reasons=[{**why, "holds_back": True}])
    JobRecord.objects.filter(pk=first).update(reasons=[{**why, "why": "as requested", "holds_back": False}])
    JobFact.objects.filter(name="parallelism", record_id=first).update(number=7)
    rejects = [{"code": "1", "column": "note", "reason": "The value is too long.", "rows": 2}]
    ImportJob.objects.filter(pk=second).update(reject_reasons=rejects)
    said = told(browser, made[:2], "settings") | told(browser, made[:2], "results")
    assert said["Reasons that hold it back"] == ["none", "One chunk after another"]
    assert said["Reasons for rejects"] == ["none", "The value is too long"]
    assert said["Parallel chunks"][0].endswith("as requested")
    assert said["Parallel chunks"][1].endswith("because MyISAM lets one session write")


def test_the_chart_says_how_many_sessions_its_seconds_are_of(browser, made):
    JobFact.objects.filter(name="parallelism", record_id=made[0]).update(number=7)
    names = browser.get(address(made[:2])).context["phases"]["imports"]
    assert names[0] == [f"Import {made[0]}", "7 sessions"]

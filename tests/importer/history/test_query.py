"""Filtering, sorting and charts against plain Python, on made-up imports."""

import csv
import json
import statistics
from datetime import UTC, datetime
from io import StringIO
from itertools import pairwise

import pytest

from importer.engine.errors import Problem
from importer.history import charts, chunk_timings
from importer.history.compare import apart, compare, runs_like
from importer.history.export import as_csv, as_json
from importer.history.facts import FACTS, PHASES
from importer.history.query import Condition, Query
from importer.history.read import rows
from importer.history.search import every_row, in_order, page, values_of
from importer.jobs import write_record
from importer.models import Chunk, ImportJob, JobFact
from tests.sample_imports import made_up_imports

JOBS = 60


@pytest.fixture(scope="module")
def told(django_db_setup, django_db_blocker):
    """Everything that is known of made-up imports, by import; they are gone again after this module."""
    with django_db_blocker.unblock(), made_up_imports(JOBS, 10 * JOBS, tables=3) as made:
        yield made


@pytest.fixture(autouse=True)
def _database(db, told):
    """Each test may read."""


def condition(name: str, op: str, text: str) -> Condition:
    return Condition.read(name, op, text)


@pytest.mark.parametrize(
    ("asked", "holds"),
    [
        (("status", "=", "failed"), lambda facts: facts["status"] == "failed"),
        (("status", "!=", "failed"), lambda facts: facts["status"] != "failed"),
        (("chunk_bytes", ">=", "8M"), lambda facts: facts["chunk_bytes"] >= 8 * 2**20),
        (("rows_per_second", "<", "300000"), lambda facts: facts.get("rows_per_second", 1e9) < 300_000),
        (("asked_parallelism", "=", "unknown"), lambda facts: "asked_parallelism" not in facts),
        (("asked_parallelism", "!=", "unknown"), lambda facts: "asked_parallelism" in facts),
        (("asked_parallelism", "!=", "4"), lambda facts: facts.get("asked_parallelism", 4) != 4),
        (("balanced", "=", "no"), lambda facts: facts["balanced"] is False),
        (("rows_per_second", "!=", "1"), lambda facts: "rows_per_second" in facts),
        (("problem", "=", "unknown"), lambda facts: "problem" not in facts),
        (("table", ">", "made_up.t0"), lambda facts: facts["table"] > "made_up.t0"),
        (("table", "=", "made_up.t1"), lambda facts: facts["table"] == "made_up.t1"),
        (("rows", "<=", "300000"), lambda facts: facts["rows"] <= 300_000),
        (("server_version", "~", "MARIA"), lambda facts: "MariaDB" in facts["server_version"]),
    ],
)
def test_a_condition_holds_as_python_says(told, asked, holds):
    expected = {job for job, facts in told.items() if holds(facts)}
    assert 0 < len(expected) < JOBS
    assert set(in_order(Query((condition(*asked),)))) == expected


@pytest.mark.parametrize("sort", ["rows", "-rows_per_second", "round_trip_ms", "-table", "problem", "-balanced"])
def test_sorted_with_unknown_ones_last_and_the_newest_first_among_equals(told, sort):
    name, falling = sort.removeprefix("-"), sort.startswith("-")
    newest_first = sorted(told, reverse=True)
    known = sorted((job for job in newest_first if name in told[job]), key=lambda job: told[job][name], reverse=falling)
    assert in_order(Query(sort=sort)) == known + [job for job in newest_first if name not in told[job]]


def test_pages_hold_every_import_once(told):
    pages = [page(Query(columns=("job", "rows"), sort="rows", page=number, rows=25)) for number in (1, 2, 3, 9)]
    assert [(each.number, each.pages, each.found, len(each.rows)) for each in pages] == [
        (1, 3, JOBS, 25), (2, 3, JOBS, 25), (3, 3, JOBS, 10), (3, 3, JOBS, 10),
    ]  # fmt: skip
    assert sorted(row.job for each in pages[:3] for row in each.rows) == sorted(told)
    assert all(row.facts == {"job": row.job, "rows": told[row.job]["rows"]} for each in pages for row in each.rows)


def test_few_imports_are_looked_up_as_whole_columns_are(told, monkeypatch):
    query = Query((condition("status", "=", "succeeded"), condition("rows", ">", "1000")), sort="-rows")
    one_by_one = in_order(query)
    monkeypatch.setattr("importer.history.read.FEW", 0)
    assert in_order(query) == one_by_one


def test_points_leave_out_what_is_unknown(told):
    drawn = charts.points(Query(), "parallelism", "rows_per_second", "indexes")
    expected = {
        (job, facts["parallelism"], facts["rows_per_second"], facts["indexes"])
        for job, facts in told.items()
        if "rows_per_second" in facts
    }
    assert {(each.job, each.x, each.y, each.colour) for each in drawn.points} == expected
    assert drawn.left_out == JOBS - len(expected) > 0


def test_median_and_quartiles_of_each_value(told):
    found = charts.by_setting(Query(), "parallelism", "rows_per_second")
    assert [each.value for each in found] == sorted({facts["parallelism"] for facts in told.values()})
    for each in found:
        took = [
            f["rows_per_second"] for f in told.values() if f["parallelism"] == each.value and "rows_per_second" in f
        ]
        low, median, high = statistics.quantiles(took, n=4, method="inclusive")
        spread = each.spread
        assert (spread.low, spread.median, spread.high) == pytest.approx((low, median, high))
        assert (spread.jobs, spread.least, spread.most) == (len(took), min(took), max(took))
        assert spread.share == pytest.approx((high - low) / median)


def test_many_values_are_put_together_in_ranges_that_miss_none(told):
    found = charts.by_setting(Query(), "rows", "total_seconds")
    assert 1 < len(found) <= charts.MOST_GROUPS
    assert sum(each.spread.jobs for each in found) == JOBS
    assert all(each.value <= each.upto for each in found)
    assert all(one.upto < other.value for one, other in pairwise(found))


def test_over_time_a_change_is_marked_where_settings_or_server_differ_from_the_import_before(told):
    query = Query((condition("table", "=", "made_up.t0"),))
    line = charts.over_time(query)
    jobs = sorted(
        (job for job, facts in told.items() if facts["table"] == "made_up.t0" and "rows_per_second" in facts),
        key=lambda job: told[job]["ended"],
    )
    assert [point.job for point in line.points] == jobs
    for before, after in pairwise(jobs):
        changed = next((each.facts for each in line.changes if each.job == after), {})
        for name in ("parallelism", "method", "indexes", "chunk_bytes"):
            same = told[before][name] == told[after][name]
            assert changed.get(name) == (None if same else (told[before][name], told[after][name]))


def test_a_fact_that_only_newer_records_have_is_no_change(told):
    first, second = sorted(told)[:2]
    JobFact.objects.filter(name="method", record_id=first).delete()
    differing = charts._changed(rows([first])[first], rows([second])[second])
    assert "method" not in differing


def test_imports_side_by_side(told):
    first, second = [job for job, facts in told.items() if "rows_per_second" in facts][:2]
    found = compare([first, second])
    differing = {each.fact.name: each.values for each in found.settings}
    for name in ("chunk_bytes", "parallelism", "asked_indexes", "rows", "secondary_keys"):
        values = told[first].get(name), told[second].get(name)
        assert differing.get(name, (values[0], values[0])) == values
    rates = next(each for each in found.timings if each.fact.name == "rows_per_second")
    assert rates.ratios == pytest.approx((1, rates.values[1] / rates.values[0]))
    assert all(reason["option"] for reasons in found.reasons for reason in reasons)
    assert found.runs[0] == runs_like(told[first])
    assert not found.sure


def test_two_runs_each_way_that_are_apart_make_it_sure():
    fast, slow = charts.TimingSpread.of([10.0, 11.0]), charts.TimingSpread.of([8.0, 9.0])
    one, between = charts.TimingSpread.of([10.0]), charts.TimingSpread.of([8.0, 10.5])
    assert (apart(fast, slow), apart(slow, fast)) == (True, True)
    assert not any((apart(one, slow), apart(between, fast), apart(fast, fast)))


def test_where_the_time_goes_adds_up_to_the_sessions_time(told):
    for job, phases in charts.where_time_goes(Query((condition("status", "=", "succeeded"),)), most=5):
        assert set(phases) == {each.name for each in PHASES}
        facts = told[job]
        spent = sum(phases.values())
        assert (
            spent == pytest.approx(facts["parallelism"] * facts["load_seconds"], rel=0.01) or not phases["phase_wait"]
        )


def test_chunks_of_a_job_in_few_points(told, monkeypatch):
    job = ImportJob.objects.get(pk=max(told, key=lambda each: told[each]["chunks"]))
    chunks = list(job.chunks.filter(status=Chunk.Status.LOADED).order_by("number"))
    seconds = {each.number: sum(each.timings.values()) for each in chunks}
    monkeypatch.setattr(chunk_timings, "MOST_POINTS", 7)
    found = chunk_timings.read(job)
    assert 1 < len(found.points) <= 7 < len(chunks)
    assert [each.first for each in found.points[1:]] == [each.last + 1 for each in found.points[:-1]]
    assert (found.points[0].first, found.points[-1].last, found.chunks) == (0, len(chunks) - 1, len(chunks))
    for point in found.points:
        own = [seconds[number] for number in range(point.first, point.last + 1)]
        assert (sum(point.laps), point.longest) == pytest.approx((statistics.mean(own), max(own)), abs=1e-5)
    assert found.median == pytest.approx(statistics.median(seconds.values()), abs=1e-5)
    assert list(found.slowest) == sorted(seconds, key=lambda each: -seconds[each])[:10]
    assert found.retried == sum(each.retried for each in found.points) == sum(each.attempt > 1 for each in chunks)


def test_very_many_are_read_when_the_record_is_written_and_then_no_more(told, monkeypatch):
    job = ImportJob.objects.get(pk=max(told, key=lambda each: told[each]["chunks"]))
    read = chunk_timings.read(job)
    monkeypatch.setattr(chunk_timings, "MOST_READ", 1)
    write_record(job.pk)
    job.chunks.all().delete()
    assert chunk_timings.chunk_timings(job) == read


def test_csv_comes_back_as_it_was(told):
    columns = tuple(FACTS)
    written = "".join(as_csv(columns, every_row(Query(columns=columns))))
    read = list(csv.DictReader(StringIO(written, newline="")))
    assert len(read) == JOBS
    for line in read:
        assert {name: text for name, text in line.items() if text} == {
            name: as_text(name, value) for name, value in told[int(line["job"])].items()
        }


def as_text(name: str, value) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return utc(value) if name in ("ended", "started") else str(value)


def utc(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")


def test_json_comes_back_as_it_was(told):
    columns = tuple(FACTS)
    read = json.loads("".join(as_json(columns, every_row(Query(columns=columns)))))
    assert len(read) == JOBS
    for each in read:
        known = {name: value for name, value in each.items() if value is not None}
        assert known == {
            name: utc(value) if name in ("ended", "started") else value for name, value in told[each["job"]].items()
        }
    assert json.loads("".join(as_json(columns, []))) == []


def test_what_a_filter_offers_are_the_values_that_there_are(told):
    assert values_of("indexes") == ["defer", "keep"]
    only = [job for job, facts in told.items() if facts["indexes"] == "keep"]
    assert values_of("indexes", only) == ["keep"]


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (("nothing", "=", "1"), "no fact 'nothing'"),
        (("rows", "=>", "1"), "no comparison '=>'"),
        (("rows", ">", "many"), "rows cannot be 'many'.*a number"),
        (("rows", ">", "nan"), "rows cannot be 'nan'"),
        (("rows", "~", "1"), "which ~ cannot search"),
        (("chunk_bytes", "=", "8 MiB"), "a size such as 512K"),
        (("lock_table", "=", "maybe"), "yes or no"),
        (("ended", ">", "2026-13-01"), "a day such as"),
        (("rows", "<", "unknown"), "so < unknown never holds"),
    ],
)
def test_what_cannot_be_asked_is_said(asked, said):
    with pytest.raises(Problem, match=said):
        condition(*asked)


def test_times_are_those_of_the_installation(settings):
    settings.TIME_ZONE = "Europe/Vienna"
    assert condition("ended", ">", "2026-11-20").value == condition("ended", ">", "2026-11-19T23:00:00Z").value


def test_each_chunk_that_was_made_up_is_there(told):
    chunks = Chunk.objects.filter(job__in=list(told))
    assert chunks.count() == sum(facts["chunks"] for facts in told.values()) == pytest.approx(10 * JOBS, rel=0.1)


def test_of_many_points_some_are_drawn_and_the_extremes_among_them():
    drawn = [charts.Point(job, job % 3, float(job * 7919 % 1000), "a") for job in range(1000)]
    few = charts.thinned(drawn, 100)
    assert len(few) < 110
    for place in range(3):
        every, some = ([point.y for point in of if point.x == place] for of in (drawn, few))
        assert (min(every), max(every)) == (min(some), max(some))
    line = charts.outline(drawn, 100)
    assert len(line) <= 100
    assert {0.0, 999.0} <= {point.y for point in line}
    assert [point.job for point in charts.evenly(drawn, 100)] == list(range(0, 1000, 10))

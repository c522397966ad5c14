"""Filtering, sorting and charts compared with plain Python, on generated imports."""

import csv
import statistics
from datetime import UTC, datetime
from io import StringIO
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest

from importer.engine.errors import Problem
from importer.history import charts
from importer.history.chunks import timings
from importer.history.compare import compare, runs_like
from importer.history.export import as_csv, as_json
from importer.history.facts import FACTS, PHASES
from importer.history.query import Condition, Query
from importer.history.read import rows
from importer.history.search import every_row, in_order, page, values_of
from importer.jobs.record import write_record
from importer.models import Chunk, ImportJob, JobFact
from tests import documents
from tests.sample_imports import made_up_imports

JOBS = 60


@pytest.fixture(scope="module")
def facts_by_job(django_db_setup, django_db_blocker):
    """All facts of generated imports, by import. The imports are removed after this module."""
    with django_db_blocker.unblock(), made_up_imports(JOBS, 10 * JOBS, tables=3) as made:
        yield made


@pytest.fixture(autouse=True)
def _database(db, facts_by_job):
    """Every test of the module may use the database."""


def condition(name: str, op: str, text: str) -> Condition:
    return Condition.read(name, op, text)


@pytest.mark.parametrize(
    ("parts", "holds"),
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
def test_a_condition_holds_as_in_python(facts_by_job, parts, holds):
    expected = {job for job, facts in facts_by_job.items() if holds(facts)}
    assert 0 < len(expected) < JOBS
    assert set(in_order(Query((condition(*parts),)))) == expected


@pytest.mark.parametrize("sort", ["rows", "-rows_per_second", "round_trip_ms", "-table", "problem", "-balanced"])
def test_sorting_puts_unknown_values_last_and_the_newest_first_among_equals(facts_by_job, sort):
    name, falling = sort.removeprefix("-"), sort.startswith("-")
    newest_first = sorted(facts_by_job, reverse=True)
    known = sorted(
        (job for job in newest_first if name in facts_by_job[job]),
        key=lambda job: facts_by_job[job][name],
        reverse=falling,
    )
    assert in_order(Query(sort=sort)) == known + [job for job in newest_first if name not in facts_by_job[job]]


def test_pages_have_every_import_once(facts_by_job):
    pages = [page(Query(columns=("job", "rows"), sort="rows", page=number, rows=25)) for number in (1, 2, 3, 9)]
    assert [(each.number, each.pages, each.found, len(each.rows)) for each in pages] == [
        (1, 3, JOBS, 25), (2, 3, JOBS, 25), (3, 3, JOBS, 10), (3, 3, JOBS, 10),
    ]  # fmt: skip
    assert sorted(row.job for each in pages[:3] for row in each.rows) == sorted(facts_by_job)
    assert all(
        row.facts == {"job": row.job, "rows": facts_by_job[row.job]["rows"]} for each in pages for row in each.rows
    )


def test_lookups_of_few_imports_equal_reads_of_whole_columns(facts_by_job, monkeypatch):
    query = Query((condition("status", "=", "succeeded"), condition("rows", ">", "1000")), sort="-rows")
    one_by_one = in_order(query)
    monkeypatch.setattr("importer.history.read.FEW", 0)
    assert in_order(query) == one_by_one


def test_points_leave_out_unknown_values(facts_by_job):
    drawn = charts.points(Query(), "parallelism", "rows_per_second", "indexes")
    expected = {
        (job, facts["parallelism"], facts["rows_per_second"], facts["indexes"])
        for job, facts in facts_by_job.items()
        if "rows_per_second" in facts
    }
    assert {(each.job, each.x, each.y, each.colour) for each in drawn.points} == expected
    assert drawn.left_out == JOBS - len(expected) > 0


def test_each_value_of_a_setting_has_median_and_quartiles(facts_by_job):
    result = charts.by_setting(Query(), "parallelism", "rows_per_second")
    assert [each.value for each in result] == sorted({facts["parallelism"] for facts in facts_by_job.values()})
    for each in result:
        took = [
            f["rows_per_second"]
            for f in facts_by_job.values()
            if f["parallelism"] == each.value and "rows_per_second" in f
        ]
        low, median, high = statistics.quantiles(took, n=4, method="inclusive")
        spread = each.spread
        assert (spread.low, spread.median, spread.high) == pytest.approx((low, median, high))
        assert (spread.jobs, spread.least, spread.most) == (len(took), min(took), max(took))
        assert spread.share == pytest.approx((high - low) / median)


def test_many_values_are_grouped_in_ranges_that_cover_all(facts_by_job):
    result = charts.by_setting(Query(), "rows", "total_seconds")
    assert 1 < len(result) <= charts.MOST_GROUPS
    assert sum(each.spread.jobs for each in result) == JOBS
    assert all(each.value <= each.upto for each in result)
    assert all(one.upto < other.value for one, other in pairwise(result))


def test_a_timeline_marks_changes_of_settings_or_server(facts_by_job):
    query = Query((condition("table", "=", "made_up.t0"),))
    line = charts.over_time(query)
    jobs = sorted(
        (job for job, facts in facts_by_job.items() if facts["table"] == "made_up.t0" and "rows_per_second" in facts),
        key=lambda job: facts_by_job[job]["ended"],
    )
    assert [point.job for point in line.points] == jobs
    for before, after in pairwise(jobs):
        changed = next((each.facts for each in line.changes if each.job == after), {})
        for name in ("parallelism", "method", "indexes", "chunk_bytes"):
            same = facts_by_job[before][name] == facts_by_job[after][name]
            assert changed.get(name) == (None if same else (facts_by_job[before][name], facts_by_job[after][name]))


def test_a_fact_that_only_newer_records_have_is_no_change(facts_by_job):
    first, second = sorted(facts_by_job)[:2]
    JobFact.objects.filter(name="method", record_id=first).delete()
    differing = charts._changed(rows([first])[first], rows([second])[second])
    assert "method" not in differing


def test_compare_shows_differing_settings_timings_and_reasons(facts_by_job):
    first, second = [job for job, facts in facts_by_job.items() if "rows_per_second" in facts][:2]
    result = compare([first, second])
    differing = {each.fact.name: each.values for each in result.settings}
    for name in ("chunk_bytes", "parallelism", "asked_indexes", "rows", "secondary_keys"):
        values = facts_by_job[first].get(name), facts_by_job[second].get(name)
        assert differing.get(name, (values[0], values[0])) == values
    rates = next(each for each in result.timings if each.fact.name == "rows_per_second")
    assert rates.ratios == pytest.approx((1, rates.values[1] / rates.values[0]))
    assert all(reason["option"] for reasons in result.reasons for reason in reasons)
    assert result.runs[0] == runs_like(facts_by_job[first])
    assert not result.sure


def test_the_phases_add_up_to_the_time_of_the_sessions(facts_by_job):
    for job, phases in charts.where_time_goes(Query((condition("status", "=", "succeeded"),)), most=5):
        assert set(phases) == {each.name for each in PHASES}
        facts = facts_by_job[job]
        spent = sum(phases.values())
        assert (
            spent == pytest.approx(facts["parallelism"] * facts["load_seconds"], rel=0.01) or not phases["phase_wait"]
        )


def test_the_timings_of_many_chunks_are_reduced_to_few_points(facts_by_job, monkeypatch):
    job = ImportJob.objects.get(pk=max(facts_by_job, key=lambda each: facts_by_job[each]["chunks"]))
    chunks = list(job.chunks.filter(status=Chunk.Status.LOADED).order_by("number"))
    seconds = {each.number: sum(each.timings.values()) for each in chunks}
    monkeypatch.setattr(timings, "MOST_POINTS", 7)
    result = timings.read(job)
    assert 1 < len(result.points) <= 7 < len(chunks)
    assert [each.first for each in result.points[1:]] == [each.last + 1 for each in result.points[:-1]]
    assert (result.points[0].first, result.points[-1].last, result.chunks) == (0, len(chunks) - 1, len(chunks))
    for point in result.points:
        own = [seconds[number] for number in range(point.first, point.last + 1)]
        assert (sum(point.laps), point.longest) == pytest.approx((statistics.mean(own), max(own)), abs=1e-5)
    assert result.median == pytest.approx(statistics.median(seconds.values()), abs=1e-5)
    assert list(result.slowest) == sorted(seconds, key=lambda each: -seconds[each])[:10]
    assert result.retried == sum(each.retried for each in result.points) == sum(each.attempt > 1 for each in chunks)


def test_timings_of_very_many_chunks_are_stored_in_the_record(facts_by_job, monkeypatch):
    job = ImportJob.objects.get(pk=max(facts_by_job, key=lambda each: facts_by_job[each]["chunks"]))
    read = timings.read(job)
    monkeypatch.setattr(timings, "MOST_READ", 1)
    write_record(job.pk)
    job.chunks.all().delete()
    assert timings.chunk_timings(job) == read


def test_exported_csv_has_the_same_values(facts_by_job):
    columns = tuple(FACTS)
    written = "".join(as_csv(columns, every_row(Query(columns=columns))))
    found = list(csv.DictReader(StringIO(written, newline="")))
    assert len(found) == JOBS
    for line in found:
        assert {name: text for name, text in line.items() if text} == {
            name: as_text(name, value) for name, value in facts_by_job[int(line["job"])].items()
        }


def as_text(name: str, value) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return utc(value) if name in ("ended", "started") else str(value)


def utc(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")


def test_exported_json_has_the_same_values(facts_by_job):
    columns = tuple(FACTS)
    exported = documents.read("".join(as_json(columns, every_row(Query(columns=columns)))))["jobs"]
    assert len(exported) == JOBS
    for each in exported:
        known = {name: value for name, value in each.items() if value is not None}
        assert known == {
            name: utc(value) if name in ("ended", "started") else value
            for name, value in facts_by_job[each["job"]].items()
        }
    assert documents.read("".join(as_json(columns, [])))["jobs"] == []


def test_values_of_lists_the_existing_values_of_a_fact(facts_by_job):
    assert values_of("indexes") == ["defer", "keep"]
    only = [job for job, facts in facts_by_job.items() if facts["indexes"] == "keep"]
    assert values_of("indexes", only) == ["keep"]


@pytest.mark.parametrize(
    ("parts", "message"),
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
def test_a_wrong_condition_is_refused_with_the_reason(parts, message):
    with pytest.raises(Problem, match=message):
        condition(*parts)


def test_times_are_in_the_time_zone_of_the_installation(settings):
    settings.TIME_ZONE = "Europe/Vienna"
    assert condition("ended", ">", "2026-11-20").value == condition("ended", ">", "2026-11-19T23:00:00Z").value


@pytest.mark.parametrize(
    ("op", "holds"),
    [
        ("=", "ends"),
        ("!=", "before after"),
        ("<", "before"),
        ("<=", "before ends"),
        (">", "after"),
        (">=", "ends after"),
    ],
)
def test_a_day_is_all_of_its_moments(facts_by_job, settings, op: str, holds: str):
    settings.TIME_ZONE = "Europe/Vienna"
    days = {}
    for job, facts in facts_by_job.items():
        days[job] = datetime.fromtimestamp(facts["ended"], ZoneInfo("Europe/Vienna")).date()
    day = sorted(days.values())[JOBS // 2]
    asked = condition("ended", op, day.isoformat())
    where = {job: "before" if each < day else "after" if each > day else "ends" for job, each in days.items()}
    assert set(in_order(Query((asked,)))) == {job for job, each in where.items() if each in holds.split()}
    assert condition("ended", op, asked.text) == asked
    midnight = condition("ended", op, f"{day}T00:00:00")
    assert (midnight.value, midnight.after) == (asked.value, None)
    assert condition("ended", op, midnight.text) == midnight


def test_all_generated_chunks_are_stored(facts_by_job):
    chunks = Chunk.objects.filter(job__in=list(facts_by_job))
    assert (
        chunks.count() == sum(facts["chunks"] for facts in facts_by_job.values()) == pytest.approx(10 * JOBS, rel=0.1)
    )


def test_thinned_points_include_the_extremes():
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

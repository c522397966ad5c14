"""The lab's pages: the form before the start, the progress while a lab runs, and the use of its result."""

import re
from html import unescape
from itertools import product
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.urls import reverse

from importer import lab
from importer.engine.plan.options import Options
from importer.engine.tuning.sampling import Sample
from importer.engine.units import MIB
from importer.lab.estimate import OVERHEAD
from importer.lab.results import planned_number
from importer.models import ImportJob, Lab, MappingPreset, SourceFile, Target, Trial
from importer.sources import uploads
from tests.importer.labs import ROWS, created_lab, grid, to_end, to_trial, write_rows
from tests.importer.steps import import_of, run
from tests.people import operator
from tests.stack import announce_workers
from tests.targets import on_mariadb

pytestmark = [pytest.mark.usefixtures("no_workers"), pytest.mark.django_db(transaction=True)]

TABLE = "CREATE TABLE t (n INT PRIMARY KEY, word VARCHAR(80), p INT, KEY word (word))"
# One of them is the default plan.
SIZES = {"chunk_bytes": (4096, MIB)}
TABLES = (TABLE,)
database = on_mariadb


@pytest.fixture
def user(db) -> User:
    return User.objects.create_superuser("ann")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return write_rows(tmp_path / "rows.csv")


@pytest.fixture
def job(target: Target, path: Path) -> ImportJob:
    done = run(import_of(path, target, options=Options(mode="replace")))
    assert done.status == ImportJob.Status.SUCCEEDED
    return done


def text(answer) -> str:
    return unescape(answer.content.decode())


def ticks(html: str, setting: str) -> dict[str, bool]:
    """The boxes of a setting of fixed values, each with whether it is ticked."""
    found = re.findall(rf'type="checkbox" name="set_{setting}" value="([^"]*)"( checked)?', html)
    return {value: bool(on) for value, on in found}


def seen_in(html: str) -> str:
    """The token of what the page shows."""
    return re.search(r'id="lab-page-state" name="seen" value="([^"]*)"', html)[1]


def page_of(browser, of: Lab, name: str = "lab") -> str:
    return text(browser.get(reverse(name, args=[of.pk])))


class TestNew:
    def test_a_past_import_gives_everything_and_the_page_says_what_will_happen(self, browser, job):
        page = text(browser.get(reverse("job", args=[job.pk])))
        assert f"{reverse('lab_new')}?job={job.pk}" in page
        sizes = {"set_chunk_bytes": "4K, 8K, 16K, 1M, 4M", "set_parallelism": "1"}
        page = text(browser.get(reverse("lab_new"), {"job": job.pk, "grid_shown": "chunks", **sizes}))
        # Three sizes and the planned one, in four rounds.
        assert "16 trials, about" in page
        assert "With this file chunk size 1 MiB and chunk size 4 MiB give the same chunks" in page
        assert "Left out: chunk size 4 MiB" in page
        assert "Reason: the same chunks as chunk size 1 MiB, parallelism 1, so both are one trial." in page
        assert "then up to 24 more of the best few" in page
        assert f"and {OVERHEAD} s a trial for its table, scan and proof, also of the best few" in page
        assert f"about {ROWS:,} each" in page
        assert f"{job.table} itself is neither read nor written." in page.replace("<code>", "").replace("</code>", "")

    def test_the_page_says_that_a_small_file_tells_no_chunk_sizes_apart_and_starts_nothing(self, browser, job):
        page = text(browser.get(reverse("lab_new"), {"job": job.pk, "grid": "chunks"}))
        assert "With this file nothing is left to compare." in page
        assert "lab-grid-idle" in page
        assert 'start-message">With this file nothing is left to compare.</span>' in page
        assert "chunk size 1 MiB, chunk size 4 MiB and chunk size 16 MiB give the same chunks" in page
        assert 'id="lab-start" disabled' in page
        # The suggested rows follow the grid; those that somebody has written stay.
        sent = {"job": job.pk, "grid": "commits", "rows": "123", "rows_suggested": "123"}
        assert f'name="rows" value="{ROWS}"' in text(browser.get(reverse("lab_new"), sent))
        assert 'name="rows" value="123"' in text(browser.get(reverse("lab_new"), sent | {"rows_suggested": "99"}))

    def test_a_sample_that_loads_in_no_time_is_said_to_tell_nothing_apart(self, browser, job):
        page = text(browser.get(reverse("lab_new"), {"job": job.pk, "rows": "10", "rows_suggested": "99"}))
        assert re.search(r"A trial loads these rows in about [0-9.]+ (ms|s)\.</strong> That is too short", page)

    def test_the_rounds_say_whether_a_verdict_can_come_of_them(self, browser, job):
        several, one = (text(browser.get(reverse("lab_new"), {"job": job.pk, "repeats": each})) for each in "31")
        assert "as often as a verdict needs" in several
        assert "One gives an overview" not in several
        assert "One gives an overview" in one

    def test_of_an_own_mix_what_stays_as_planned_folds_away(self, browser, job):
        sent = {"job": job.pk, "grid": "own", "grid_shown": "own", "set_chunk_bytes": "4K, 1M"}
        shown, folded = text(browser.get(reverse("lab_new"), sent)).split("more settings</summary>")
        assert 'name="set_chunk_bytes"' in shown
        assert 'name="set_unique_checks"' not in shown
        assert all(f'name="set_{each}"' in folded for each in ("unique_checks", "parallelism", "method"))

    def test_the_first_choice_that_finds_something_out_is_chosen_before_somebody_chooses(self, browser, job):
        page = text(browser.get(reverse("lab_new"), {"job": job.pk}))
        assert re.findall(r'name="grid" value="([^"]*)" checked', page) == ["indexes"]
        assert 'id="lab-start" disabled' not in page

    def test_it_starts_as_it_was_asked_for(self, browser, job):
        requested = {
            "job": job.pk, "grid": "own", "grid_shown": "own", "seed": "7", "repeats": "2", "minutes": "3",
            "set_chunk_bytes": "4K, 1M", "set_unique_checks": ["", "on", "off"], "sample": "share", "share": "20",
            "most_rows": "100,000", "disk": "1G", "target_disk": "", "during_imports": "yes",
        }  # fmt: skip
        answer = browser.post(reverse("lab_new"), requested)
        begun = Lab.objects.get()
        assert answer["Location"] == reverse("lab", args=[begun.pk])
        assert begun.grid.values == {"chunk_bytes": (4096, MIB), "unique_checks": (True, False)}
        assert (begun.requested_sample, begun.repeats, begun.seed, begun.of_job) == (Sample(share=0.2), 2, 7, job)
        budget = begun.budget
        assert (budget.seconds, budget.rows, budget.local_bytes, budget.target_bytes) == (180, 100_000, 2**30, None)
        assert begun.during_imports
        # The page of one like that is filled in alike.
        page = text(browser.get(reverse("lab_new"), {"lab": begun.pk}))
        for value in ("4K, 1M", "20", "100000"):
            assert f'value="{value}"' in page
        assert ticks(page, "unique_checks") == {"on": True, "off": True}

    def test_ones_own_mix_begins_with_values_and_only_what_there_is_to_find_out_is_offered(self, browser, job):
        new = reverse("lab_new")
        page = text(browser.get(new, {"job": job.pk, "grid": "own"}))
        assert 'name="set_chunk_bytes" value="256K, 1M, 4M, 16M"' in page
        assert "Nothing to measure: In mode replace no foreign key is in the way of the load" in page
        # What was looked at before goes along; what somebody empties stays empty.
        looked = {"job": job.pk, "grid": "own", "grid_shown": "indexes", "set_indexes": "keep, defer"}
        page = text(browser.get(new, looked))
        assert ticks(page, "indexes") == {"keep": True, "defer": True}
        assert (len(ticks(page, "method")), any(ticks(page, "method").values())) == (5, False)
        assert f"Import {job.pk}: rows.csv → " in page.partition("its file, format, columns and options")[0][-200:]
        assert 'name="set_chunk_bytes" value=""' in page
        assert "Nothing is to be tried." in text(browser.get(new, looked | {"set_indexes": ""}))

    def test_what_cannot_be_is_said_in_place_and_starts_nothing(self, browser, job):
        wrong = (
            ("set_chunk_bytes", "much", "is not a size"),
            ("share", "200", "cannot be"),
            ("repeats", "x", 'id="lab-repeats_error">'),
            ("disk", "much", 'id="lab-disk_error">'),
        )
        for name, value, said in wrong:
            requested = {"job": job.pk, "grid": "chunks", "grid_shown": "chunks", "sample": "share", name: value}
            answer = browser.post(reverse("lab_new"), requested)
            assert answer.status_code == 422
            assert said in text(answer)
            assert 'id="lab-start" disabled' in text(answer)
        assert not Lab.objects.exists()

    def test_an_uploaded_file_that_nobody_has_imported(self, browser, user, target, path):
        source = uploads.register(path)
        SourceFile.objects.filter(pk=source.pk).update(owned=True, uploaded_by=user)
        page = text(browser.get(reverse("lab_new"), {"source": source.key}))
        assert "Choose a target and a table." in page
        chosen = {"target": target.pk, "table": "t", "grid_shown": "chunks", "set_chunk_bytes": "4K, 1M"}
        answer = browser.post(reverse("lab_new"), {"source": source.key, **chosen})
        assert answer.status_code == 302
        assert Lab.objects.get().source == source


class TestWhileItRuns:
    def test_the_page_fills_in_and_a_look_at_nothing_new_gets_nothing(self, browser, target, path):
        begun = created_lab(target, path, SIZES)
        to_trial(begun)
        address = reverse("lab_live", args=[begun.pk])
        page = text(browser.get(address))
        assert "Now: chunk size" in page
        assert "0 of 4" in page
        assert browser.get(address, {"seen": seen_in(page)}).status_code == 204
        to_end(begun)
        answer = browser.get(address, {"seen": seen_in(page)})
        assert answer.status_code == 286
        assert "Recommendation" in text(answer)
        assert browser.get(address, {"seen": seen_in(text(answer))}).status_code == 204

    def test_cancel_says_so_and_ends_it(self, browser, target, path):
        begun = created_lab(target, path, SIZES)
        to_trial(begun)
        assert browser.get(reverse("lab_cancel", args=[begun.pk])).status_code == 405
        browser.post(reverse("lab_cancel", args=[begun.pk]))
        assert to_end(begun).status == Lab.Status.CANCELLED
        answer = browser.post(reverse("lab_cancel", args=[begun.pk]), follow=True)
        assert "has ended" in text(answer)

    def test_a_failed_one_tells_why_and_what_to_do(self, browser, target, path):
        ended = to_end(created_lab(target, path, SIZES, schema="nowhere"))
        for number, state in enumerate(("failed", "left out", "left out")):
            ended.trials.create(number=90 + number, round=1, combination=0, status=state)
        page = page_of(browser, ended)
        assert '<span class="text-danger">1 failed</span>; <span>2 left out</span>; ' in page
        assert ">0 of 3<" in page
        assert "0 rows loaded into scratch tables" in page
        assert "nowhere" in page
        assert "What to do" in page
        assert f"{reverse('lab_new')}?lab={ended.pk}" in page
        assert f"{ended.table} was not touched" in page


class TestResult:
    @pytest.fixture
    def ended(self, job) -> Lab:
        requested = lab.LabRequest(
            grid(chunk_bytes=(4096, MIB), parallelism=(1, 4)), Sample(rows=500), repeats=1, seed=1
        )
        job.target.ceiling = 2
        job.target.save()
        return to_end(lab.create_from_job(job, requested))

    def test_recommendation_ranking_charts_trials_and_what_was_left_out(self, browser, ended):
        said = lab.outcome(ended)
        page = page_of(browser, ended)
        assert said["recommendation"]["advice"] in page
        assert f"{said['ranking'][0]['median']:,.0f}" in page
        assert "the target's ceiling is 2 parallel chunks" in page
        assert page.count('<tr id="trial-') == ended.trials.count()
        drawn = browser.get(reverse("lab_charts", args=[ended.pk])).json()
        assert [len(bar["runs"]) for bar in drawn["bars"]] == [1] * len(said["ranking"])
        assert ("Middle half of the runs" in page, "Times as fast as planned" in page) == (False, False)
        assert drawn["curves"] == [], "the bars show what a line of two points would"
        assert said["recommendation"]["confidence"] == "none"
        listed = text(browser.get(reverse("labs")))
        assert reverse("lab", args=[ended.pk]) in listed
        assert "No verdict: too few rounds" in listed
        # Finals are told apart from the rounds before.
        assert "final" not in page.lower()
        ended.trials.create(number=99, round=2, combination=1, status=Trial.Status.DONE, rows_per_second=1000.0)
        page = page_of(browser, ended)
        assert "<span>Final 1</span>" in page
        assert "1 round and a warm-up; the best few again" in page
        assert "those that ran in the finals come first" in page
        assert lab.outcome(ended)["ranking"][0]["settings"] == ended.combinations[1]

    def test_saved_as_a_preset_or_applied_it_has_the_advice_and_the_mode_of_the_import(
        self, browser, client, ended, job
    ):
        apply = f"{reverse('new_source', args=[job.source.key])}?lab={ended.pk}"
        assert apply in page_of(browser, ended)
        self.check_preset(browser, ended)
        answer = browser.get(apply)
        choices = answer.context["preview"].choices
        assert choices.options == lab.options_to_apply(ended)
        assert choices.options.mode == "replace"
        # One round gives no verdict.
        assert "the usual ones are used" in text(answer)
        assert re.search(r'<details class="speed" id="[^"]+">', answer.text), "nothing is filled in there"
        assert "recommends" not in text(answer).split(f'id="lab-{job.source.key}"')[1].split("</div>")[0]
        assert answer.context["preview"].mapping == job.mapping
        assert f'name="lab" value="{ended.pk}"' in text(answer)
        # Files of the server are shown to staff only.
        client.force_login(operator("bob"))
        assert apply not in client.get(reverse("lab", args=[ended.pk])).content.decode()
        assert client.get(apply).status_code == 404
        # A table that the import has created is there by now.
        ImportJob.objects.filter(pk=job.pk).update(options_json={**job.options_json, "mode": "create"})
        assert lab.options_to_apply(Lab.objects.get(pk=ended.pk)).mode == "append"

    @pytest.mark.parametrize("fastest_is_planned", [False, True])
    def test_enough_rounds_recommend_settings_or_the_plan(self, browser, ended, job, fastest_is_planned):
        Lab.objects.filter(pk=ended.pk).update(repeats=9)
        planned = planned_number(ended)
        for number, (combination, round) in enumerate(product({planned, 1 - min(planned, 1)}, range(2, 10)), start=100):
            rate = 9000.0 if (combination == planned) == fastest_is_planned else 1000.0
            done = {"status": Trial.Status.DONE, "rows_per_second": rate + round}
            ended.trials.create(number=number, round=round, combination=combination, **done)
        said = text(browser.get(f"{reverse('new_source', args=[job.source.key])}?lab={ended.pk}"))
        assert ("recommends the plan as it is" if fastest_is_planned else "recommends are filled in</strong>") in said

    def test_three_values_make_a_curve_and_one_round_no_conclusion(self, browser, target, path):
        ended = to_end(created_lab(target, path, {"chunk_bytes": (4096, 8192, MIB)}, repeats=1))
        (sizes,) = browser.get(reverse("lab_charts", args=[ended.pk])).json()["curves"]
        assert ({"4 KiB", "8 KiB", "1 MiB"} <= set(sizes["values"]), sizes["says"]) == (True, "")

    def check_preset(self, browser, ended):
        """It is saved as a preset once."""
        address = reverse("lab_preset", args=[ended.pk])
        browser.post(address, {"name": "fast"})
        assert MappingPreset.objects.get().options == lab.options_of(ended)
        answer = browser.post(address, {"name": "fast"})
        assert answer.status_code == 422
        assert "cannot be the preset's name" in text(answer)
        assert 'name="name" value="fast"' in answer.content.decode()


def test_another_try_is_promised_only_while_something_can_do_it(browser, redis, target, path):
    stuck = created_lab(target, path, SIZES)
    Lab.objects.update(status=Lab.Status.ENDING, waits_for="The server is away")
    address = reverse("lab", args=[stuck.pk])
    assert "No worker is running: nothing tries it again until that is fixed." in text(browser.get(address))
    announce_workers()
    page = text(browser.get(address))
    assert "It is tried again by itself." in page
    assert "nothing tries it again" not in page


def test_the_empty_list_says_what_a_lab_is(browser):
    page = text(browser.get(reverse("labs")))
    assert "loads a sample of your file again and again" in page
    assert reverse("lab_new") in page


class TestMatrix:
    def test_combinations_that_come_to_the_same_chunks_are_one_trial_and_the_matrix_says_so(
        self, browser, target, path
    ):
        """On the sample each size from 1 MiB on makes one chunk, and then parallel chunks make no difference."""
        begun = created_lab(target, path, {"chunk_bytes": (4096, MIB, 4 * MIB), "parallelism": (1, 2)}, repeats=1)
        assert "to come" in page_of(browser, begun)
        done = to_end(begun)
        outcome = lab.outcome(done)
        measured = [(each["settings"].get("chunk_bytes"), each["planned"]) for each in outcome["ranking"]]
        large = [planned for size, planned in measured if size != 4096]
        assert len(measured) == 3
        assert large == [True]
        left = [each for each in outcome["left_out"] if "the same chunks as" in each["why"]]
        assert {each["settings"].get("chunk_bytes", MIB) for each in left} <= {MIB, 4 * MIB}
        page = page_of(browser, done)
        assert page.count("so both are one trial</span>") == len(left) > 0
        matrix = page[page.index('class="table card-table lab-matrix"') :].partition("</table>")[0]
        assert matrix.count('class="measured"') == 3
        assert "best" in matrix

    def test_a_lab_of_one_setting_has_none(self, browser, target, path):
        assert "lab-matrix-words" not in page_of(browser, created_lab(target, path, SIZES))

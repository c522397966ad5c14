"""A lab from its start to its result: trials, clean-up and recommendation."""

from pathlib import Path

import pytest

from importer import lab
from importer.engine.errors import Problem
from importer.engine.mysql.connection import connect, execute, fetch_all
from importer.engine.plan.options import Options
from importer.engine.stored import to_json
from importer.engine.target import scratch_tables
from importer.engine.tuning.budget import Budget
from importer.engine.tuning.grid import TUNABLE
from importer.engine.tuning.sampling import Sample
from importer.engine.units import MIB
from importer.jobs import lifecycle
from importer.lab.commands import planned_settings
from importer.lab.setup import REHEARSAL, scratch_of
from importer.models import ImportJob, Lab, Target, Trial
from importer.preparation.prepare import ImportRequest, prepare
from importer.sources import uploads
from tests.engine.loads import run_sql
from tests.importer.labs import (
    ROWS,
    created_lab,
    grid,
    leaves_nothing,
    now,
    tables,
    take_step,
    to_end,
    to_trial,
    trial_job,
    whole_target,
)
from tests.importer.steps import import_of, run
from tests.targets import on_one_server

pytestmark = pytest.mark.usefixtures("no_workers")

# One of them is the planned combination.
SIZES = {"chunk_bytes": (4096, MIB)}
# A setting of the whole server for each trial.
VARIABLES = Options(server_variables={"innodb_flush_log_at_trx_commit": "2"})


def test_planned_settings_have_a_value_for_each_option_that_a_lab_can_vary(target: Target, path: Path):
    options = Options(unique_checks=False, isolation="SERIALIZABLE")
    prepared = prepare(uploads.register(path), target, "t", ImportRequest(options=options))
    settings = planned_settings(prepared.plan, options)
    assert set(TUNABLE) <= settings.keys()
    assert (settings["unique_checks"], settings["isolation"]) == (False, "SERIALIZABLE")
    assert (settings["method"], settings["parallelism"]) == ("load_data_local", prepared.plan.parallelism)


class TestToTheEnd:
    def test_a_lab_loads_every_combination_in_every_round_and_leaves_nothing_behind(self, target, path, database):
        before = whole_target(database)
        done = to_end(created_lab(target, path, SIZES, VARIABLES))
        assert whole_target(database) == before
        assert (done.status, done.problem, done.sample_rows) == (Lab.Status.DONE, {}, 500)
        trials = list(done.trials.all())
        assert [(each.round, each.rows) for each in trials] == [(n, 500) for n in (0, 1) for _ in range(2)]
        assert {each.combination for each in trials} == {0, 1}
        assert {each.ran_as["chunk_bytes"] for each in trials} == {4096, MIB}
        leaves_nothing(done, database)
        with connect(database) as connection:
            assert fetch_all(connection, "SELECT COUNT(*) FROM t") == [(0,)]
        outcome = lab.outcome(done)
        assert [len(each["rates"]) for each in outcome["ranking"]] == [1, 1]
        assert sum(each["planned"] for each in outcome["ranking"]) == 1
        assert outcome["trials"]["done"] == 4
        # There is no verdict from one round.
        advice = outcome["recommendation"]
        assert (advice["settings"], advice["confidence"], advice["interval"]) == ({}, "none", None)
        assert "1 round cannot tell settings apart" in advice["advice"]

    def test_each_trial_begins_with_an_empty_scratch_table_like_the_target_table(self, target, path, database):
        begun = created_lab(target, path, {"foreign_key_checks": (True, False)})
        job = to_trial(begun)
        name = f"millrace_lab_{begun.key.hex}_1"
        assert (job.table_name, job.schema_name) == (name, database.database)
        with connect(database) as connection:
            assert fetch_all(connection, f"SELECT COUNT(*) FROM {name}") == [(0,)]
            ddl = fetch_all(connection, f"SHOW CREATE TABLE {name}")[0][1]
            assert fetch_all(connection, "SELECT table_name, made_like FROM millrace_lab") == [
                (name, f"{database.database}.t")
            ]
        assert "KEY `word`" in ddl
        assert "REFERENCES `parent` (`id`) ON DELETE CASCADE" in ddl
        to_end(begun)

    @on_one_server
    def test_the_outcome_fills_up_while_the_lab_runs(self, target, path):
        begun = created_lab(target, path, SIZES)
        versions = [now(begun).version]
        for _ in range(3):
            run(to_trial(begun))
            take_step(begun)
            versions.append(now(begun).version)
        assert versions == sorted(set(versions))
        to_trial(begun)
        outcome = lab.outcome(now(begun))
        assert (outcome["running"]["trial"], outcome["running"]["round"]) == (4, 1)
        assert (outcome["trials"]["done"], len(outcome["ranking"])) == (3, 1)
        assert lab.outcome(to_end(begun))["running"] is None

    @on_one_server
    def test_the_recommendation_is_saved_as_a_preset(self, target, path):
        ended = to_end(created_lab(target, path, SIZES, options=Options(on_error="reject")))
        preset = lab.save_preset(ended, "fast rows")
        assert preset.options == lab.options_of(ended)
        assert (preset.options.on_error, preset.table) == ("reject", ended.table)

    @on_one_server
    @pytest.mark.parametrize(
        ("setting", "usual", "faster", "says"),
        [
            ("indexes", "keep", "defer", "only from an empty table"),
            ("unique_checks", True, False, "can store duplicates in unique keys"),
            ("foreign_key_checks", True, False, "rows without a parent are stored, and nothing checks them later"),
            ("foreign_keys", "keep", "defer", "if rows have no parent, the import fails then"),
        ],
    )
    def test_a_caveat_says_what_the_recommended_setting_costs(self, target, path, setting, usual, faster, says):
        begun = created_lab(target, path, {setting: (usual, faster)})
        for number in range(12):
            combination = number % len(begun.combinations)
            rate = 2000 if begun.combinations[combination].get(setting) == faster else 1000
            begun.trials.create(
                number=number,
                round=1 + number // len(begun.combinations),
                combination=combination,
                status="done",
                rows_per_second=rate + number,
            )
        outcome = lab.outcome(begun)
        assert outcome["recommendation"]["settings"] == {setting: faster}
        assert says in " ".join(outcome["caveats"])

    def test_scratch_tables_can_lie_in_another_schema_and_have_partitions(self, target, path, database, server):
        run_sql(database, "ALTER TABLE t DROP FOREIGN KEY f")
        with server.fresh_database() as other:
            begun = created_lab(target, path, {"partitions": (1, 4)}, schema=other.database)
            to_trial(begun)
            assert len(tables(other)) == 1
            assert to_end(begun).status == Lab.Status.DONE
            assert tables(other) == set()
        assert {each.status for each in begun.trials.all()} == {Trial.Status.DONE}

    def test_a_lab_can_repeat_a_past_import(self, target, path, database):
        job = run(import_of(path, target))
        assert job.status == ImportJob.Status.SUCCEEDED
        by_method = grid(method=("load_data_local", "insert"), rows_per_statement=(10,))
        ended = to_end(lab.create_from_job(job, lab.LabRequest(by_method, Sample(share=0.2), repeats=1)))
        assert {each.ran_as["rows_per_statement"] for each in ended.trials.all()} == {None, 10}
        assert ended.status == Lab.Status.DONE
        assert ROWS * 0.15 < ended.sample_rows < ROWS * 0.25


class TestWhatGoesWrong:
    def test_a_combination_that_fails_is_reported_and_not_tried_again(self, target, path, database):
        run_sql(database, "DELETE FROM parent WHERE id = 2")
        done = to_end(created_lab(target, path, {"foreign_key_checks": (True, False)}, repeats=2))
        outcome = lab.outcome(done)
        assert done.status == Lab.Status.DONE
        (failed,) = outcome["failed"]
        assert (failed["words"], failed["trials"]) == ("foreign key checks: on", 1)
        assert [(each["words"], each["trials"]) for each in outcome["left_out"]] == [("foreign key checks: on", 2)]
        assert [each["words"] for each in outcome["ranking"]] == ["foreign key checks: off"]
        leaves_nothing(done, database)

    @on_one_server
    def test_a_lab_fails_with_the_reason_if_all_trials_fail(self, target, tmp_path, database):
        bad = tmp_path / "bad.csv"
        bad.write_text("n,word,p\n1,a,1\nx,b,1\n")
        done = to_end(created_lab(target, bad, {"unique_checks": (True, False)}))
        assert done.status == Lab.Status.FAILED
        assert done.problem["rows"][0]["value"] == "x"
        assert lab.outcome(done)["recommendation"] is None
        with pytest.raises(Problem, match="has measured nothing"):
            lab.options_of(done)
        leaves_nothing(done, database)

    def test_a_lab_fails_if_its_schema_does_not_exist(self, target, path, database):
        done = to_end(created_lab(target, path, SIZES, schema="nowhere"))
        assert (done.status, done.trials.count()) == (Lab.Status.FAILED, 0)
        assert "nowhere" in str(done.problem)
        leaves_nothing(done, database)

    def test_a_lab_cancelled_during_a_trial_leaves_nothing_behind(self, target, path, database):
        before = whole_target(database)
        begun = created_lab(target, path, SIZES, VARIABLES)
        job = to_trial(begun)
        lab.cancel(begun.pk)
        assert take_step(begun).status == Lab.Status.ENDING
        assert ImportJob.objects.get(pk=job.pk).status == ImportJob.Status.CANCELLED
        done = to_end(begun)
        assert done.status == Lab.Status.CANCELLED
        leaves_nothing(done, database)
        assert whole_target(database) == before

    def test_what_the_planner_has_come_to_refuse_is_left_out_before_the_first_trial(self, target, path, database):
        begun = created_lab(target, path, {"indexes": ("keep", "defer"), **SIZES})
        run_sql(database, "ALTER TABLE t DROP FOREIGN KEY f, DROP KEY f, DROP KEY word")
        done = to_end(begun)
        left = lab.outcome(done)["left_out"]
        assert [each["settings"]["indexes"] for each in left] == ["defer", "defer"]
        assert "is not possible here: each of them is needed" in left[0]["why"]
        assert {each.settings["indexes"] for each in done.trials.all()} == {"keep"}

    @on_one_server
    def test_a_lab_waits_while_the_target_does_not_answer(self, target, path, server):
        begun = created_lab(target, path, SIZES)
        for _ in range(2):
            take_step(begun)
        Target.objects.filter(pk=target.pk).update(port=1)
        assert "No server answers there" in take_step(begun).waits_for
        Target.objects.filter(pk=target.pk).update(port=target.port)
        Lab.objects.filter(pk=begun.pk).update(lease=None)
        assert to_end(begun).status == Lab.Status.DONE
        assert {each.begun for each in begun.trials.all()} == {1}

    @on_one_server
    def test_combinations_over_the_ceiling_are_left_out_with_the_reason(self, target, path):
        target.ceiling = 2
        target.save()
        begun = created_lab(target, path, {"chunk_bytes": (4096,), "parallelism": (1, 2, 4)})
        assert begun.left_out_json == [
            {
                "settings": {"chunk_bytes": 4096, "parallelism": 4},
                "why": "the target's ceiling is 2 parallel chunks",
            }
        ]


@on_one_server
class TestBudget:
    def test_the_row_budget_ends_a_lab_and_the_outcome_lists_trials_left_out(self, target, path, database):
        # The warm-up of both, and one trial that counts.
        done = to_end(created_lab(target, path, SIZES, repeats=2, budget=Budget(rows=1600)))
        assert (done.status, sum(each.rows for each in done.trials.all())) == (Lab.Status.DONE, 1500)
        left = lab.outcome(done)["left_out"]
        assert sum(each["trials"] for each in left) == 3
        assert left[0]["why"] == "1,500 of 1,600 rows are loaded, and it would load 500"
        leaves_nothing(done, database)

    def test_a_sample_beyond_the_local_disk_budget_fails_the_lab(self, target, path, database):
        done = to_end(created_lab(target, path, SIZES, budget=Budget(local_bytes=1000)))
        assert done.status == Lab.Status.FAILED
        assert "takes more than the 1,000 bytes" in done.problem["what"]
        leaves_nothing(done, database)

    def test_a_trial_that_takes_longer_than_the_time_left_is_cancelled(self, target, path):
        begun = created_lab(target, path, SIZES)
        job = to_trial(begun)
        Lab.objects.filter(pk=begun.pk).update(budget_json=to_json(Budget(seconds=0.001)))
        take_step(begun)
        assert ImportJob.objects.get(pk=job.pk).status == ImportJob.Status.CANCELLED
        done = to_end(begun)
        assert done.status == Lab.Status.FAILED
        assert "It took longer than" in done.problem["what"]


@on_one_server
class TestImportsOnTheTarget:
    @pytest.fixture
    def running(self, target, path) -> ImportJob:
        job = import_of(path, target)
        lifecycle.advance(job.pk)
        return job

    def test_a_lab_waits_between_trials_until_an_import_has_ended(self, target, path, running):
        begun = created_lab(target, path, SIZES)
        for _ in range(4):
            take_step(begun)
        assert (now(begun).status, trial_job(begun)) == (Lab.Status.RUNNING, None)
        assert now(begun).waits_for.startswith(f"import {running.pk} into ")
        assert run(running).status == ImportJob.Status.SUCCEEDED
        assert to_end(begun).status == Lab.Status.DONE

    def test_a_lab_that_may_run_during_imports_does_not_wait_for_them(self, target, path, running):
        assert to_end(created_lab(target, path, SIZES, during_imports=True)).status == Lab.Status.DONE
        assert not ImportJob.objects.get(pk=running.pk).ended
        run(running)

    def test_a_trial_disturbed_by_an_import_is_repeated(self, target, path):
        begun = created_lab(target, path, SIZES)
        job = to_trial(begun)
        run(import_of(path, target))
        run(job)
        take_step(begun)
        first = begun.trials.get(number=1)
        assert (first.status, first.begun) == (Trial.Status.PENDING, 1)
        assert to_end(begun).trials.get(number=1).begun == 2

    def test_a_target_has_one_lab_at_a_time(self, target, path):
        first, second = (created_lab(target, path, SIZES) for _ in range(2))
        to_trial(first)
        assert take_step(second).status == Lab.Status.WAITING
        to_end(first)
        assert to_end(second).status == Lab.Status.DONE


class TestSweep:
    def test_the_table_of_an_interrupted_rehearsal_is_dropped_first(self, target, path, database):
        begun = created_lab(target, path, SIZES)
        take_step(begun)
        left = scratch_of(begun, REHEARSAL)
        with connect(database) as connection:
            scratch_tables.record(connection, left)
            execute(connection, f"CREATE TABLE {left.quoted} LIKE t")
        assert to_end(begun).status == Lab.Status.DONE
        leaves_nothing(begun, database)

    def test_sweep_drops_tables_of_unknown_labs_and_keeps_those_of_running_labs(self, target, path, database):
        lost, begun = (created_lab(target, path, SIZES) for _ in range(2))
        to_trial(lost)
        name = f"millrace_lab_{lost.key.hex}_1"
        ImportJob.objects.filter(trial__lab=lost).delete()
        lost.delete()
        to_trial(begun)
        lines = list(lab.sweep_target(target))
        lab.remove_orphans()
        assert f"{database.database}.{name}, made like {database.database}.t: dropped." in lines
        assert any(f"lab {begun.pk} has not ended" in each for each in lines)
        assert tables(database) == {"t", "parent", f"millrace_lab_{begun.key.hex}_1"}
        to_end(begun)
        leaves_nothing(begun, database)

    def test_sweep_drops_no_table_of_a_forged_record(self, target, path, database):
        to_end(created_lab(target, path, SIZES))
        with connect(database) as connection:
            execute(connection, scratch_tables.CREATE_SQL)
            sql = "INSERT INTO millrace_lab (schema_name, table_name, lab, made_like) VALUES (%s, 't', 'x', '')"
            execute(connection, sql, (database.database,))
        assert list(lab.sweep_target(target)) == []
        assert "t" in tables(database)


@on_one_server
class TestPagesAndPlans:
    def test_the_list_of_imports_has_no_trials(self, target, path, client, admin_user):
        begun = created_lab(target, path, SIZES)
        job = to_trial(begun)
        client.force_login(admin_user)
        assert job.table_name not in client.get("/").content.decode()
        to_end(begun)

"""Global variables, set during an import and restored, on real servers."""

import re
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from importer import targets
from importer.engine.errors import Problem, TargetProblem
from importer.engine.mysql.connection import Address, connect, execute, fetch_all
from importer.engine.mysql.server_info import Server, read_server
from importer.engine.mysql.variables.global_variables import BUFFER_POOL, SERVER_VARIABLES
from importer.engine.mysql.variables.variable import Value
from importer.engine.plan.options import Options, check_options
from importer.engine.target.global_settings import TABLE, check_global_variables, restore, restore_query, set_for_job
from importer.engine.target.temporary_changes import DeferralRefused
from importer.jobs import lifecycle
from importer.jobs.actions import commands
from importer.jobs.actions.obstacles import end_without
from importer.jobs.steps import target_changes
from importer.models import ImportJob, Target
from tests.engine.loads import account_with, rows_of, run_sql
from tests.importer.steps import advance, import_of, queued, run, take
from tests.importer.worker.test_change_target import raising
from tests.importer.worker.test_obstacles import until_stuck
from tests.targets import TestServer, saved_target

pytestmark = pytest.mark.both_servers

FLUSH = "innodb_flush_log_at_trx_commit"


def now(address: Address, name: str = FLUSH) -> Any:
    found = rows_of(address, f"SELECT @@GLOBAL.{name}")[0][0]
    return found if isinstance(found, str) else int(found)


def put(address: Address, value: int, name: str = FLUSH) -> None:
    run_sql(address, f"SET GLOBAL {name} = {value}")


def change(address: Address, job: str, value: int | None) -> None:
    """Set the variable for the job; None restores it."""
    with connect(address) as connection:
        set_for_job(connection, job, {FLUSH: value}) if value is not None else restore(connection, job)


def written(address: Address) -> list[tuple]:
    return rows_of(address, f"SELECT job, value, original FROM {TABLE} ORDER BY job")


@pytest.fixture
def shop(server: TestServer, database: Address) -> Iterator[Address]:
    """A database on a server that flushes at each commit; the setting is restored after the test."""
    put(database, 1)
    yield database
    put(database, 1)


def capacities(address: Address) -> tuple[int, int]:
    return now(address, "innodb_io_capacity"), now(address, "innodb_io_capacity_max")


def put_capacities(address: Address, values: tuple[int, int]) -> None:
    # Twice: the first one is raised to the present capacity if it is lower.
    for name, value in zip(["_max", "", "_max"], [values[1], *values], strict=True):
        put(address, value, f"innodb_io_capacity{name}")


@pytest.fixture
def capacity(shop: Address) -> Iterator[Address]:
    """A server with an I/O capacity of 200, and of 2,000 at most; its own values are restored after the test."""
    before = capacities(shop)
    put_capacities(shop, (200, 2000))
    yield shop
    put_capacities(shop, before)


def allowed(shop: Address, name: str) -> AbstractContextManager[Address]:
    """An account that has the privilege for the variable which the declaration names, and no other for the server."""
    privilege = SERVER_VARIABLES[name].of_mariadb if is_mariadb(shop) else "SYSTEM_VARIABLES_ADMIN"
    return account_with(shop, "ALL", of_server=privilege)


def is_mariadb(address: Address) -> bool:
    with connect(address) as connection:
        return read_server(connection, address).mariadb


def has(server: Server, name: str) -> bool:
    return SERVER_VARIABLES[name].only in ("", "MariaDB" if server.mariadb else "MySQL")


def at_first(shop: Address, name: str) -> Any:
    """The variable's value; LOAD DATA LOCAL is not allowed at first."""
    if name == "local_infile":
        put(shop, 0, name)
    return now(shop, name)


def another(name: str, before: Any) -> Value:
    """Another value than before that the variable may have: pools grow, numbers that others bound are halved."""
    variable = SERVER_VARIABLES[name]
    if variable.choices:
        return variable.value(next(each for each in variable.choices if each != str(before)))
    value = 2 * before if name == BUFFER_POOL else before // 2
    return value if value not in (before, 0) else before + 1


class TestPutBack:
    def test_a_global_variable_is_restored_after_repeated_changes(self, shop: Address):
        for _ in range(2):
            change(shop, "a", 2)
        assert (now(shop), written(shop)) == (2, [("a", "2", "1")])
        for _ in range(2):
            change(shop, "a", None)
        assert (now(shop), written(shop)) == (1, [])

    @pytest.mark.parametrize("first", ["a", "b"])
    def test_by_the_last_of_two_jobs(self, shop: Address, first: str):
        change(shop, "a", 2)
        change(shop, "b", 0)
        assert now(shop) == 0
        change(shop, first, None)
        assert now(shop) == {"a": 0, "b": 2}[first]
        change(shop, {"a": "b", "b": "a"}[first], None)
        assert now(shop) == 1

    def test_counts_jobs_of_other_databases_on_the_server(self, server: TestServer, shop: Address):
        with server.fresh_database() as other:
            change(shop, "a", 2)
            change(other, "b", 2)
            change(shop, "a", None)
            assert now(shop) == 2
            change(other, "b", None)
            assert now(shop) == 1

    def test_leaves_what_somebody_has_set_meanwhile(self, shop: Address):
        change(shop, "a", 2)
        put(shop, 0)
        change(shop, "a", None)
        assert now(shop) == 0

    def test_of_a_value_whose_setting_nobody_saw_end(self, shop: Address):
        change(shop, "a", 2)
        run_sql(shop, f"UPDATE {TABLE} SET is_set = 0, value = '0'")
        change(shop, "a", None)
        assert now(shop) == 1

    def test_of_fractions(self, shop: Address):
        name = "innodb_max_dirty_pages_pct"
        before = now(shop, name)
        with connect(shop) as connection:
            set_for_job(connection, "a", {name: 70})
            assert now(shop, name) == 70
            restore(connection, "a")
        assert now(shop, name) == before

    @pytest.mark.parametrize("name", SERVER_VARIABLES)
    def test_of_each_variable_by_the_privilege_that_is_named_by_itself_and_by_hand(self, server, shop, name: str):
        with allowed(shop, name) as few, connect(few) as connection:
            real = read_server(connection, few)
            if not has(real, name):
                with pytest.raises(TargetProblem, match="has no"):
                    check_global_variables(connection, {name: 1}, real)
                return
            check_global_variables(connection, {name: at_first(shop, name)}, real)
            before = now(shop, name)
            for by_hand in (False, True):
                set_for_job(connection, "a", {name: another(name, before)})
                assert now(shop, name) != before
                for (statement,) in fetch_all(connection, restore_query(shop.database, "a")) if by_hand else ():
                    execute(connection, statement)
                restore(connection, "a")
                assert (now(shop, name), written(shop)) == (before, [])
            if name == "local_infile":
                put(shop, 1, name)

    def test_of_a_buffer_pool_that_the_server_is_still_resizing(self, shop: Address):
        before = now(shop, BUFFER_POOL)
        with connect(shop) as connection:
            for times in (2, 3, 4):
                set_for_job(connection, "a", {BUFFER_POOL: times * before})
                set_for_job(connection, "b", {BUFFER_POOL: (times + 1) * before})
                assert now(shop, BUFFER_POOL) == (times + 1) * before
                restore(connection, "b")
                assert now(shop, BUFFER_POOL) == times * before
                restore(connection, "a")
                assert (now(shop, BUFFER_POOL), written(shop)) == (before, [])

    @pytest.mark.parametrize(
        "wanted", [{"": 15_000, "_max": 30_000}, {"": 100, "_max": 150}, {"": 500}, {"_max": 9000}]
    )
    def test_of_variables_that_bound_each_other(self, capacity: Address, wanted: dict):
        wanted = {f"innodb_io_capacity{each}": value for each, value in wanted.items()}
        with connect(capacity) as connection:
            set_for_job(connection, "a", wanted)
            assert {name: now(capacity, name) for name in wanted} == wanted
            restore(connection, "a")
        assert (capacities(capacity), written(capacity)) == ((200, 2000), [])

    @pytest.mark.parametrize("order", ["ab", "ba"])
    def test_of_one_that_a_second_job_sets_below_the_bound_of_the_first(self, capacity: Address, order: str):
        with connect(capacity) as connection:
            set_for_job(connection, "a", {"innodb_io_capacity": 10_000, "innodb_io_capacity_max": 20_000})
            set_for_job(connection, "b", {"innodb_io_capacity": 15_000})
            restore(connection, order[0])
            restore(connection, order[1])
        assert capacities(capacity) == (200, 2000)

    def test_leaves_a_server_alone_that_has_been_restarted(self, server: TestServer, shop: Address):
        change(shop, "a", 2)
        run_sql(shop, f"UPDATE {TABLE} SET since = since - INTERVAL 1 HOUR, original = '0'")
        server.kill()
        server.start()
        change(shop, "a", None)
        assert (now(shop), written(shop)) == (1, [])


class TestRefused:
    @pytest.mark.parametrize(
        ("variables", "said"),
        [
            ({"max_connections": "1"}, "max_connections cannot be set"),
            ({FLUSH: "3"}, "is '3'"),
            ({"local_infile": "0"}, "local_infile is '0'"),
        ],
    )
    def test_a_variable_or_value_that_is_not_allowed_is_refused(self, variables: dict, said: str):
        with pytest.raises(Problem, match=said):
            check_options(Options(server_variables=variables))

    def test_a_missing_privilege_is_reported_with_its_grant(self, shop: Address):
        with account_with(shop, "ALL") as few, connect(few) as connection:
            with pytest.raises(TargetProblem, match=r"may not set innodb_flush.*GRANT SUPER|SYSTEM_VARIABLES_ADMIN"):
                check_global_variables(connection, {FLUSH: 2}, read_server(connection, few))
            with pytest.raises(DeferralRefused, match="did not let"):
                set_for_job(connection, "a", {FLUSH: 2})
        assert now(shop) == 1

    @pytest.mark.parametrize("wanted", [{"innodb_io_capacity": 10_000}, {"innodb_io_capacity_max": 150}])
    def test_a_value_beyond_its_bound_is_refused(self, capacity: Address, wanted: dict):
        with connect(capacity) as connection:
            with pytest.raises(TargetProblem, match="is more than innodb_io_capacity_max"):
                check_global_variables(connection, wanted, read_server(connection, capacity))
            with pytest.raises(DeferralRefused, match="is more than innodb_io_capacity_max"):
                set_for_job(connection, "a", wanted)
        assert (capacities(capacity), written(capacity)) == ((200, 2000), [])

    def test_a_variable_that_the_server_lacks_is_refused(self, server: TestServer, shop: Address):
        with connect(shop) as connection:
            real = read_server(connection, shop)
            if server.flavour == "mysql":
                check_global_variables(connection, {"innodb_redo_log_capacity": 2**30}, real)
            else:
                with pytest.raises(TargetProblem, match="has no innodb_redo_log_capacity"):
                    check_global_variables(connection, {"innodb_redo_log_capacity": 2**30}, real)


@pytest.mark.usefixtures("no_workers")
class TestImport:
    @pytest.fixture
    def target(self, shop: Address, transactional_db) -> Target:
        run_sql(shop, "CREATE TABLE t (n INT PRIMARY KEY)")
        return saved_target(shop, "t")

    @pytest.fixture
    def file(self, tmp_path: Path) -> Path:
        path = tmp_path / "numbers.csv"
        path.write_text("n\n" + "".join(f"{n}\n" for n in range(500)))
        return path

    def created(self, target: Target, file: Path, variables: Mapping[str, str] | None = None, **options) -> ImportJob:
        options = Options(server_variables=variables or {FLUSH: "2"}, chunk_bytes=500, **options)
        return import_of(file, target, options=options)

    def until_loading(self, job: ImportJob) -> None:
        while steps := lifecycle.advance(job.pk):
            if steps[0].task in ("scan", "load_run"):
                return
            for step in steps:
                take(step)

    @pytest.mark.parametrize("mode", ["append", "replace"])
    def test_an_import_sets_and_restores_a_global_variable(self, target, file, mode: str):
        job = self.created(target, file, mode=mode)
        reason = next(each.why for each in job.plan.reasons if each.choice == f"{FLUSH} = 2 on the whole server")
        assert "up to a second" in reason
        self.until_loading(job)
        assert now(target.address) == 2
        assert run(job).status == ImportJob.Status.SUCCEEDED
        assert (now(target.address), written(target.address)) == (1, [])

    def test_the_time_to_build_the_keys_of_a_staging_table_is_kept(self, target, file):
        job = self.created(target, file, mode="replace")
        advance(job)
        while (steps := queued(job))[0].task != "restore":
            for step in steps:
                take(step)
            advance(job)
        ImportJob.objects.filter(pk=job.pk).update(index_seconds=100)
        assert run(job).index_seconds > 100

    def test_a_cancelled_import_restores_a_global_variable(self, target, file):
        job = self.created(target, file)
        self.until_loading(job)
        commands.cancel(job.pk)
        assert run(job).status == ImportJob.Status.CANCELLED
        assert now(target.address) == 1

    @pytest.mark.parametrize("cancelled", [False, True])
    @pytest.mark.parametrize(
        ("name", "value"), [(FLUSH, "2"), (BUFFER_POOL, "256M"), ("innodb_lru_scan_depth", "2000")]
    )
    def test_a_global_variable_of_a_dead_worker_is_restored(
        self, target, file, name: str, value: str, cancelled: bool, monkeypatch
    ):
        before = now(target.address, name)
        job = self.created(target, file, {name: value})
        monkeypatch.setattr(target_changes, "record_applied_changes", raising(KeyboardInterrupt()))
        with pytest.raises(KeyboardInterrupt):
            self.until_loading(job)
        monkeypatch.undo()
        assert now(target.address, name) == SERVER_VARIABLES[name].value(value) != before
        ImportJob.objects.filter(pk=job.pk).update(step_lease=None, step="")
        if cancelled:
            commands.cancel(job.pk)
        assert run(job).status == (ImportJob.Status.CANCELLED if cancelled else ImportJob.Status.SUCCEEDED)
        assert (now(target.address, name), written(target.address)) == (before, [])

    def test_target_restore_puts_back_what_an_unknown_import_has_set(self, target, file, capsys):
        job = self.created(target, file)
        self.until_loading(job)
        job.delete()
        finding = {each["name"]: each for each in targets.check(target)}["arrangements"]
        assert (finding["status"], f"SET GLOBAL {FLUSH} = 1;" in finding["fix"]) == ("warn", True)
        assert "1 server variable of" in finding["message"]
        call_command("target", "restore", target.name)
        assert "1 server variable put back" in capsys.readouterr().out
        assert (now(target.address), written(target.address)) == (1, [])
        assert {each["name"]: each for each in targets.check(target)}["arrangements"]["status"] == "ok"

    def test_a_retry_with_another_staging_table_first_puts_back_what_the_last_attempt_left(self, target, file):
        job = self.created(target, file, mode="replace")
        self.until_loading(job)
        own = target.address
        with account_with(own, "ALL") as few:
            self.sign_in_as(target, few)
            commands.cancel(job.pk)
            until_stuck(job)
            end_without(job.pk)
            ended = run(job)
            assert (ended.status, ended.left_changed, now(own)) == (ImportJob.Status.CANCELLED, True, 2)
            query = re.search(r"SELECT CONCAT.*(?=;)", ended.problem["advice"])[0]
            assert rows_of(own, query) == [(f"SET GLOBAL {FLUSH} = 1;",)]
            with pytest.raises(TargetProblem, match="may not set"):
                commands.retry(job.pk)
        self.sign_in_as(target, own)
        commands.retry(job.pk)
        assert now(own) == 1
        ended = run(job)
        assert (ended.status, ended.left_changed) == (ImportJob.Status.SUCCEEDED, False)
        assert (now(own), written(own)) == (1, [])

    def sign_in_as(self, target: Target, account: Address) -> None:
        target.user = account.user
        target.set_password(account.password)
        target.save()

    def test_an_import_loads_without_a_variable_that_is_no_longer_allowed(self, target, file):
        with account_with(target.address, "SELECT, INSERT, CREATE, DELETE, UPDATE") as few:
            job = self.created(target, file)
            self.sign_in_as(target, few)
            ended = run(job)
        assert ended.status == ImportJob.Status.SUCCEEDED
        assert any(each.choice.startswith("Left as it was: 1 server variable") for each in ended.plan.reasons)
        assert now(replace(target.address, user="root", password="")) == 1

"""A lab whose tables the server refuses to drop: why, trying again now, and ending without."""

from collections.abc import Iterator
from pathlib import Path

import MySQLdb
import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from importer import lab
from importer.engine.errors import Problem
from importer.engine.load import ledger
from importer.engine.mysql.connection import Address, connect, fetch_all
from importer.lab.cleanup import tidy
from importer.lab.transitions import change_held, claim
from importer.models import ImportJob, Lab, Target, Trial
from tests.engine.loads import account_with, run_sql
from tests.importer.labs import created_lab, now, record_count, tables, take_step, to_end, to_trial, write_rows
from tests.importer.steps import run
from tests.people import operator
from tests.targets import on_one_server, saved_target

pytestmark = pytest.mark.usefixtures("no_workers")
RIGHTS = ("SELECT, INSERT, UPDATE, DELETE, CREATE, DROP, ALTER, INDEX",)


@pytest.fixture
def admin(database: Address) -> Address:
    """The account that may take rights away and give them back."""
    run_sql(database, "CREATE TABLE t (n INT PRIMARY KEY, word VARCHAR(40), p INT)")
    return database


@pytest.fixture
def target(admin: Address, transactional_db) -> Iterator[Target]:
    with account_with(admin, *RIGHTS) as address:
        yield saved_target(address, "t")


def may_drop(admin: Address, *, allowed: bool) -> None:
    verb, to = ("GRANT", "TO") if allowed else ("REVOKE", "FROM")
    run_sql(admin, f"{verb} DROP ON `{admin.database}`.* {to} 'only_few'@'127.0.0.1'")


@pytest.fixture
def stuck(target: Target, admin: Address, tmp_path: Path) -> Lab:
    """A lab with a scratch table that its account may not drop any more."""
    made = created_lab(target, write_rows(tmp_path / "rows.csv"), {"chunk_bytes": (4096,)})
    run(to_trial(made))
    may_drop(admin, allowed=False)
    lab.cancel(made.pk)
    while not lab.is_stuck(now(made)):
        assert not take_step(made).ended
        Lab.objects.filter(pk=made.pk).update(lease=None)
    return now(made)


def test_it_says_why_and_goes_on_at_once_when_asked(stuck, admin):
    assert "DROP command denied" in stuck.waits_for
    for _ in range(3):  # The pause after a failure grows.
        Lab.objects.filter(pk=stuck.pk).update(lease=None)
        assert lab.is_stuck(take_step(stuck))
    assert now(stuck).lease
    may_drop(admin, allowed=True)
    lab.try_now(stuck.pk)
    assert take_step(stuck).status == Lab.Status.CANCELLED
    assert (tables(admin), record_count(admin)) == ({"t"}, 0)


def test_it_can_end_without_and_lists_what_is_left_with_the_sql(stuck, admin):
    (left,) = tables(admin) - {"t"}
    lab.end_without(stuck.pk)
    ended = now(stuck)
    assert (ended.status, ended.target_claim, ended.waits_for) == (Lab.Status.CANCELLED, None, "")
    assert "DROP command denied" in ended.problem["what"]
    assert left in ended.problem["advice"]
    assert not ImportJob.objects.filter(trial__lab=stuck).exists()
    assert ended.source.jobs.count() == 0
    may_drop(admin, allowed=True)
    drop = "DROP TABLE " + ended.problem["advice"].split("DROP TABLE ", 1)[1].split(";")[0]
    run_sql(admin, drop)
    assert tables(admin) == {"t"}


def test_the_sql_that_finds_them_finds_them(stuck, admin):
    lab.end_without(stuck.pk)
    find = "SELECT " + now(stuck).problem["advice"].split("SELECT ", 1)[1].removesuffix(";")
    with connect(admin) as connection:
        found = {name for _, name in fetch_all(connection, find.replace("%", "%%"))}
    assert found == tables(admin) - {"t"}


@on_one_server
def test_the_sweep_of_the_target_drops_them_later(stuck, admin, capsys):
    lab.end_without(stuck.pk)
    may_drop(admin, allowed=True)
    call_command("lab", "sweep", "--target", "t")
    assert tables(admin) == {"t"}


@on_one_server
def test_the_next_lab_has_the_target(stuck, target, admin, tmp_path):
    after = created_lab(target, write_rows(tmp_path / "more.csv"), {"chunk_bytes": (4096,)})
    assert take_step(after).status == Lab.Status.WAITING
    lab.end_without(stuck.pk)
    may_drop(admin, allowed=True)
    assert to_end(after).status == Lab.Status.DONE


@on_one_server
def test_a_worker_that_is_still_at_it_records_nothing(stuck):
    Lab.objects.filter(pk=stuck.pk).update(lease=None)
    late = claim(stuck.pk)
    lab.end_without(stuck.pk)
    assert not change_held(late, waits_for="too late")


def test_ledger_rows_that_cannot_be_deleted_yet_are_not_left_behind(target, admin, tmp_path):
    begun = created_lab(target, write_rows(tmp_path / "rows.csv"), {"chunk_bytes": (4096,)})
    run(to_trial(begun))
    begun.trials.filter(status=Trial.Status.RUNNING).update(status=Trial.Status.DONE)
    with connect(admin) as other, connect(target.address) as own:
        fetch_all(other, "BEGIN")
        fetch_all(other, f"SELECT * FROM {ledger.TABLE} FOR UPDATE")
        fetch_all(own, "SET SESSION innodb_lock_wait_timeout = 1")
        with pytest.raises(MySQLdb.OperationalError, match="Lock wait timeout"):
            tidy(now(begun), own)
        assert ImportJob.objects.filter(trial__lab=begun).exists()
        fetch_all(other, "ROLLBACK")
        tidy(now(begun), own)
    assert not ImportJob.objects.filter(trial__lab=begun).exists()
    assert record_count(admin) == 0
    assert to_end(begun).ended


@on_one_server
def test_without_an_obstacle_there_is_no_way_out_to_take(target, tmp_path):
    begun = created_lab(target, write_rows(tmp_path / "rows.csv"), {"chunk_bytes": (4096,)})
    for way in (lab.try_now, lab.end_without):
        with pytest.raises(Problem, match="Nothing keeps this lab"):
            way(begun.pk)


@on_one_server
def test_the_buttons_of_its_page_work(stuck, admin):
    browser = Client()
    browser.force_login(operator("ann"))
    html = browser.get(reverse("lab", args=[stuck.pk])).content.decode()
    assert "DROP command denied" in html
    assert 'id="lab-clean-now"' in html
    browser.post(reverse("lab_clean_now", args=[stuck.pk]))
    assert lab.is_stuck(take_step(stuck))
    browser.post(reverse("lab_end_without", args=[stuck.pk]))
    html = browser.get(reverse("lab", args=[stuck.pk])).content.decode()
    assert "before its scratch tables could be dropped" in html
    assert "Ended without cleaning up: scratch tables may be left" in html
    assert "scratch tables and sample are gone" not in html
    assert "DROP TABLE IF EXISTS" in html


@on_one_server
def test_so_do_the_commands(stuck, admin, capsys):
    call_command("lab", "clean-now", str(stuck.pk))
    assert lab.is_stuck(take_step(stuck))
    call_command("lab", "end-without", str(stuck.pk))
    assert "DROP TABLE IF EXISTS" in capsys.readouterr().out

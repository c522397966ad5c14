"""The ledger rows of old imports, on real servers."""

from datetime import timedelta
from uuid import uuid4

import pytest

from importer.engine.errors import Problem
from importer.engine.load import ledger
from importer.engine.load.ledger import Entry
from importer.engine.mysql.connection import Address, connect, fetch_all
from importer.jobs.actions import commands
from importer.jobs.record import write_record
from importer.models import ImportJob, Target
from importer.retention import ledgers
from importer.retention.run import run
from tests.dashboard.job_data import Status
from tests.importer.retention.conftest import NOW

pytestmark = [pytest.mark.django_db, pytest.mark.both_servers]

OTHERS = "00000000-0000-0000-0000-000000000001"


def put_rows(target: Target, *keys: str) -> None:
    with connect(target.address) as connection:
        for key in keys:
            ledger.insert(connection, *(Entry(key, number, 1, 10, 100, "0" * 16) for number in range(3)))


def keys_in(target: Target) -> set[str]:
    with connect(target.address) as connection:
        return {key for (key,) in fetch_all(connection, f"SELECT DISTINCT job FROM {ledger.TABLE}")}


def test_rows_of_old_imports_go_and_those_of_young_retryable_and_foreign_ones_stay(ended, target):
    old = ended(91, target=target)
    stays = [ended(89, target=target), ended(91, Status.FAILED, target=target, changes="left")]
    stays += [ended(1000, Status.LOADING, target=target)]
    put_rows(target, str(old.key), OTHERS, *(str(each.key) for each in stays))
    assert run(NOW)["ledger rows of imports"] == 1
    assert keys_in(target) == {OTHERS, *(str(each.key) for each in stays)}
    assert run(NOW + timedelta(minutes=1))["ledger rows of imports"] == 0


def test_rows_of_the_earlier_tries_of_an_import_that_began_again_go_with_it(ended, target):
    job = ended(91, target=target)
    for _ in range(2):
        put_rows(target, str(job.key))
        job.key = uuid4()
        job.save(update_fields=["key"])
        write_record(job.pk)
    put_rows(target, str(job.key))
    assert len(keys_in(target)) == 3
    run(NOW)
    assert keys_in(target) == set()


def test_rows_of_an_import_that_is_deleted_go_in_their_time(ended, target):
    job = ended(401, target=target)
    put_rows(target, str(job.key))
    Target.objects.update(port=1)
    assert run(NOW)["imports"] == 1
    assert not ImportJob.objects.exists()
    Target.objects.update(port=target.port)
    run(NOW + timedelta(hours=2))
    assert keys_in(target) == set()


def test_a_target_that_cannot_be_reached_is_named_and_tried_again_after_an_hour(ended, target):
    job = ended(91, target=target)
    put_rows(target, str(job.key))
    Target.objects.update(port=1)
    assert run(NOW)["ledger rows of imports"] == 0
    assert Target.objects.get(pk=target.pk).ledger_problem
    Target.objects.update(port=target.port)
    assert run(NOW + timedelta(minutes=59))["ledger rows of imports"] == 0
    assert run(NOW + timedelta(minutes=61))["ledger rows of imports"] == 1
    assert (Target.objects.get(pk=target.pk).ledger_problem, keys_in(target)) == ("", set())


def test_the_time_to_retry_protects_rows_beyond_their_days(ended, target, settings):
    settings.RETRY_DAYS, settings.LEDGER_DAYS = 200, 30
    job = ended(199, Status.FAILED, target=target)
    put_rows(target, str(job.key))
    run(NOW)
    assert keys_in(target) == {str(job.key)}
    run(NOW + timedelta(days=2))
    assert keys_in(target) == set()


def test_an_import_without_its_rows_is_not_retried(ended, target):
    job = ended(91, Status.FAILED, target=target)
    put_rows(target, str(job.key))
    assert ledgers.remove_rows(NOW, 10) == 1
    assert keys_in(target) == set()
    with pytest.raises(Problem, match="its ledger rows were deleted"):
        commands.retry(job.pk)


def test_rows_of_an_import_that_is_retried_meanwhile_stay(ended, target, monkeypatch, no_workers):
    # Of one whose finishing step is done, a retry looks at nothing on the target.
    retried = ended(92, Status.FAILED, target=target, staging="done")
    put_rows(target, str(retried.key))
    connected = ledgers.connect

    def retry_first(address: Address):
        commands.retry(retried.pk)
        return connected(address)

    monkeypatch.setattr(ledgers, "connect", retry_first)
    ledgers.remove_rows(NOW, 10)
    assert not ImportJob.objects.get(pk=retried.pk).ended
    assert keys_in(target) == {str(retried.key)}

"""The proof that a server rolls back and holds a second session at the ledger's key, on real servers."""

from dataclasses import replace

import pytest

from importer.engine.errors import TargetProblem
from importer.engine.load import ledger
from importer.engine.mysql.connection import Address, connect
from importer.engine.mysql.server_info import Server
from importer.engine.preflight.transaction_probe import require_exactly_once, unfit
from tests.engine.loads import rows_of, run_sql

pytestmark = pytest.mark.both_servers

UNTRIED = Server("Unknown server", "1.0", {}, local=True, cores=1)


def test_a_server_with_transactions_is_fit_and_keeps_nothing(database: Address):
    with connect(database) as connection:
        ledger.create(connection)
    require_exactly_once(database, UNTRIED)
    assert rows_of(database, f"SELECT * FROM {ledger.TABLE}") == []


def test_without_a_ledger_nothing_can_be_proved(mariadb: Address):
    with pytest.raises(TargetProblem, match="no table millrace_ledger") as refused:
        require_exactly_once(mariadb, UNTRIED)
    assert "check" in refused.value.advice


def test_a_ledger_that_keeps_rows_after_a_rollback_is_unfit(database: Address):
    run_sql(database, ledger.CREATE_SQL.replace("ENGINE=InnoDB", "ENGINE=MyISAM"))
    with pytest.raises(TargetProblem, match="cannot undo an INSERT"):
        require_exactly_once(database, UNTRIED)


def test_a_ledger_without_its_key_is_unfit(database: Address):
    run_sql(database, ledger.CREATE_SQL.replace("PRIMARY KEY", "KEY"))
    assert "two sessions" in unfit(database)


def test_an_account_that_may_not_insert_gets_the_servers_own_error(database: Address):
    with connect(database) as connection:
        ledger.create(connection)
    with pytest.raises(TargetProblem, match="Access denied"):
        require_exactly_once(replace(database, password="wrong"), UNTRIED)


def test_a_kind_that_is_in_the_tests_needs_no_proof(mariadb: Address):
    require_exactly_once(replace(mariadb, password="wrong"), replace(UNTRIED, flavour="MariaDB"))

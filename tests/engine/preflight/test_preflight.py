"""The preflight checks on real servers: each finding is provoked, and each fix in SQL is run and must help."""

import json
import logging
import uuid
from contextlib import contextmanager
from dataclasses import replace

import MySQLdb
import pytest

from importer.engine.load import ledger
from importer.engine.mysql.connection import Address, connect, execute, fetch_all, kill
from importer.engine.mysql.error_messages import MEANINGS, RIGHTS, is_lost
from importer.engine.preflight import access, server_settings
from importer.engine.preflight import check as preflight_check
from importer.engine.preflight.check import check
from importer.engine.units import human_bytes
from tests.engine.loads import rows_of

pytestmark = pytest.mark.both_servers

CANARY = "CANARY-7f3a"
STEPS = (*preflight_check.SERVER_STEPS, *preflight_check.DATABASE_STEPS)


def by_name(findings):
    return {finding.name: finding for finding in findings}


def failed(findings):
    return [finding.name for finding in findings if finding.status == "fail"]


def run_as_root(server, database, sql):
    """Run the statements of a fix."""
    with connect(replace(server.address, database=database.database)) as connection:
        for statement in filter(None, (part.strip() for part in sql.split(";"))):
            execute(connection, statement)


@contextmanager
def account(server, database, *grants):
    """The database's address with a new account; "{db}" in a grant is the database."""
    user = f"u{uuid.uuid4().hex[:10]}"
    server.run(f"CREATE USER {user}@'127.0.0.1' IDENTIFIED BY '{CANARY}'")
    try:
        for grant in grants:
            server.run(f"GRANT {grant.format(db=database.database)} TO {user}@'127.0.0.1'")
        yield replace(database, user=user, password=CANARY)
    finally:
        server.run(f"DROP USER {user}@'127.0.0.1'")


@contextmanager
def setting(server, name, value):
    """A global variable, changed and restored afterwards."""
    with connect(server.address) as connection:
        before = fetch_all(connection, f"SELECT @@GLOBAL.{name}")[0][0]
    server.run(f"SET GLOBAL {name} = {value}")
    try:
        yield
    finally:
        server.run(f"SET GLOBAL {name} = {before}")


class TestGoodTarget:
    def test_nothing_fails_and_every_step_is_reported(self, database):
        findings = check(database)
        assert failed(findings) == []
        assert [finding.name for finding in findings] == ["sign_in", *(step.__name__ for step in STEPS)]

    def test_account_with_the_least_privileges_passes(self, server, database):
        with account(server, database, "INSERT, SELECT, CREATE ON {db}.*") as address:
            findings = by_name(check(address))
        assert [findings[name].status for name in ("privileges", "excess_privileges", "rollback")] == ["ok"] * 3

    def test_what_an_account_cannot_see_of_locks_is_a_warning_that_its_fix_ends(self, server, database):
        with account(server, database, "INSERT, SELECT, CREATE ON {db}.*") as address:
            blind = by_name(check(address))["diagnosis"]
            assert blind.status == "warn"
            assert "GRANT PROCESS ON *.* TO" in blind.fix
            for statement in filter(None, map(str.strip, blind.fix.split(";"))):
                server.run(statement)
            assert by_name(check(address))["diagnosis"].status == "ok"

    def test_every_warning_and_failure_comes_with_a_fix(self, database):
        assert all(finding.fix for finding in check(database) if finding.status != "ok")

    def test_ledger_is_created_once(self, database):
        assert "created" in by_name(check(database))["ledger_table"].message
        assert "exists" in by_name(check(database))["ledger_table"].message

    def test_load_probe_leaves_no_row(self, database):
        assert by_name(check(database))["rollback"].status == "ok"
        assert rows_of(database, f"SELECT COUNT(*) FROM {ledger.TABLE}") == [(0,)]

    def test_sizes_have_units(self, database):
        assert "128 MiB" in by_name(check(database))["buffer_pool"].message

    def test_findings_are_json(self, database):
        assert json.loads(json.dumps([finding.as_json() for finding in check(database)]))[0]["name"] == "sign_in"


class TestSignIn:
    def test_wrong_password_is_reported_with_alter_user(self, database):
        (finding,) = check(replace(database, password="wrong"))
        assert finding.status == "fail"
        assert "Access denied" in finding.message
        assert "ALTER USER" in finding.fix

    def test_closed_port_is_reported(self, closed_port):
        (finding,) = check(Address("127.0.0.1", closed_port, "root", "", "mysql"))
        assert "No server answers" in finding.message
        assert "port" in finding.fix

    def test_unknown_host_is_reported(self):
        (finding,) = check(Address("no-such-host.invalid", 3306, "root", "", "mysql"))
        assert finding.status == "fail"
        assert "no-such-host.invalid" in finding.message

    def test_server_is_checked_even_if_the_database_is_unknown(self, server, database):
        missing = replace(database, database=f"{database.database}_2")
        findings = by_name(check(missing))
        assert failed(findings.values()) == ["sign_in"]
        assert findings["version"].status == "ok"
        server.run(findings["sign_in"].fix.split(";")[0])
        try:
            assert failed(check(missing)) == []
        finally:
            server.run(f"DROP DATABASE {missing.database}")

    def test_account_without_privileges_gets_the_grant_that_it_needs(self, server, database):
        with account(server, database) as address:
            finding = by_name(check(address))["sign_in"]
            assert finding.status == "fail"
            run_as_root(server, database, finding.fix)
            assert failed(check(address)) == []

    def test_connection_lost_during_the_check_is_reported_once(self, database, monkeypatch):
        def lose_connection(subject):
            kill(database, subject.connection.thread_id())
            return server_settings.version(subject)

        monkeypatch.setattr(preflight_check, "SERVER_STEPS", (lose_connection, access.excess_privileges))
        findings = check(database)
        assert [finding.name for finding in findings] == ["sign_in", "version", "connection"]
        assert "lost" in findings[-1].message

    @pytest.mark.parametrize("number", [number for number in MEANINGS if is_lost(MySQLdb.OperationalError(number, ""))])
    def test_every_error_of_a_lost_connection_ends_the_check(self, mariadb, monkeypatch, number):
        def lose_connection(subject):
            raise MySQLdb.OperationalError(number, "gone")

        monkeypatch.setattr(preflight_check, "SERVER_STEPS", (lose_connection, access.excess_privileges))
        assert [finding.name for finding in check(mariadb)] == ["sign_in", "connection"]


class TestPrivileges:
    @pytest.mark.parametrize("pattern", ["{db}", "test%", "test\\_%"])
    def test_grant_keeps_the_privileges_of_another_pattern(self, server, database, pattern):
        """Of several patterns that match, the server uses one."""
        pattern = pattern.format(db=database.database)
        with account(server, database, f"SELECT, CREATE ON `{pattern}`.*") as address:
            finding = by_name(check(address))["privileges"]
            assert finding.message.startswith("The account may not INSERT in")
            run_as_root(server, database, finding.fix)
            assert failed(check(address)) == []

    def test_grant_does_not_cover_a_database_with_a_similar_name(self, server, database):
        """_ is a wildcard in GRANT: unescaped, test_1 would also match testX1."""
        similar = replace(database, database=database.database.replace("_", "X"))
        server.run(f"CREATE DATABASE {similar.database}")
        try:
            with account(server, database) as address:
                run_as_root(server, database, by_name(check(address))["sign_in"].fix)
                assert failed(check(address)) == []
                assert "sign_in" in failed(check(replace(address, database=similar.database)))
        finally:
            server.run(f"DROP DATABASE {similar.database}")

    def test_ledger_sql_is_the_fix_without_the_create_privilege(self, server, database):
        with account(server, database, "INSERT, SELECT ON {db}.*") as address:
            findings = by_name(check(address))
            assert failed(findings.values()) == ["privileges", "ledger_table"]
            assert "CREATE" in findings["privileges"].message
            assert findings["rollback"].message.startswith("Not tested")
            run_as_root(server, database, findings["ledger_table"].fix)
            assert failed(check(address)) == []

    def test_privileges_of_a_role_count(self, server, database):
        role = f"r{uuid.uuid4().hex[:10]}"
        server.run(f"CREATE ROLE {role}")
        try:
            server.run(f"GRANT INSERT, SELECT, CREATE ON {database.database}.* TO {role}")
            with account(server, database) as address:
                server.run(f"GRANT {role} TO {address.user}@'127.0.0.1'")
                to = "FOR" if server.flavour == "mariadb" else "TO"
                server.run(f"SET DEFAULT ROLE {role} {to} {address.user}@'127.0.0.1'")
                assert by_name(check(address))["privileges"].status == "ok"
        finally:
            server.run(f"DROP ROLE {role}")

    def test_privileges_on_single_tables_are_a_warning(self, server, database):
        run_as_root(server, database, f"{ledger.CREATE_SQL}; CREATE TABLE flights (a INT); CREATE TABLE closed (a INT)")
        grants = ("INSERT, SELECT ON {db}.flights", f"INSERT, SELECT ON {{db}}.{ledger.TABLE}")
        with account(server, database, *grants) as address:
            findings = by_name(check(address))
        assert findings["privileges"].status == "warn"
        assert "these tables only: flights." in findings["privileges"].message
        assert findings["rollback"].status == "ok"

    def test_privilege_checks_leave_no_table(self, database):
        check(database)
        assert rows_of(database, "SHOW TABLES") == [(ledger.TABLE,)]

    def test_excess_privileges_are_a_warning_that_names_them(self, database):
        finding = by_name(check(database))["excess_privileges"]
        assert finding.status == "warn"
        assert "SUPER, FILE" in finding.message
        assert "CREATE USER 'millrace'@" in finding.fix
        assert f"GRANT {RIGHTS} ON" in finding.fix


class TestServerSettings:
    def test_local_infile_off_is_a_warning(self, server, database):
        with setting(server, "local_infile", 0):
            findings = by_name(check(database))
            assert failed(findings.values()) == []
            assert findings["local_infile"].status == "warn"
            # The next method: MySQL has a folder for files here, MariaDB has none.
            fallback = "Prepared INSERT" if server.flavour == "mariadb" else "LOAD DATA from a pipe"
            assert f"Imports take {fallback}" in findings["local_infile"].message
            assert f"rows were loaded by {fallback}" in findings["rollback"].message
            server.run(findings["local_infile"].fix.split(";")[0])
            assert by_name(check(database))["local_infile"].status == "ok"

    def test_read_only_server_is_a_failure(self, server, database):
        with setting(server, "read_only", 1):
            findings = by_name(check(database))
            assert findings["writable"].status == "fail"
            assert len(findings) == len(STEPS) + 1
            run_as_root(server, database, findings["writable"].fix.split(": ")[-1])
            assert failed(check(database)) == []

    def test_read_only_server_is_a_failure_for_an_ordinary_account(self, server, database):
        with (
            account(server, database, "INSERT, SELECT, CREATE ON {db}.*") as address,
            setting(server, "read_only", 1),
        ):
            findings = by_name(check(address))
        assert "writable" in failed(findings.values())
        assert "read" in findings["privileges"].message
        assert len(findings) == len(STEPS) + 1

    @pytest.mark.parametrize(("value", "lost_by"), [(2, "crash of the machine"), (0, "crash of the server")])
    def test_weaker_durability_names_the_possible_loss(self, server, database, value, lost_by):
        with setting(server, "innodb_flush_log_at_trx_commit", value):
            finding = by_name(check(database))["durability"]
            assert finding.status == "warn"
            assert lost_by in finding.message
            server.run(finding.fix.split(";")[0])
            assert by_name(check(database))["durability"].status == "ok"


class TestRollback:
    def test_ledger_that_cannot_roll_back_fails_two_checks(self, server, database):
        run_as_root(server, database, ledger.CREATE_SQL.replace("ENGINE=InnoDB", "ENGINE=MyISAM"))
        findings = by_name(check(database))
        assert failed(findings.values()) == ["ledger_table", "rollback"]
        assert "3 are still there" in findings["rollback"].message
        assert rows_of(database, f"SELECT COUNT(*) FROM {ledger.TABLE}") == [(0,)]
        run_as_root(server, database, findings["ledger_table"].fix)
        assert failed(check(database)) == []

    def test_foreign_table_with_the_name_of_the_ledger_fails(self, server, database):
        run_as_root(server, database, f"CREATE TABLE {ledger.TABLE} (something INT) ENGINE = InnoDB")
        finding = by_name(check(database))["rollback"]
        assert finding.status == "fail"
        assert "job" in finding.message


class TestPasswordStaysSecret:
    def test_password_is_in_no_finding_no_log_and_no_repr(self, server, database, caplog):
        caplog.set_level(logging.DEBUG)
        with account(server, database, "INSERT, SELECT ON {db}.*") as address:
            findings = [*check(address), *check(replace(address, password=f"{CANARY}-wrong"))]
            findings += check(replace(address, database="nowhere"))
        texts = [repr(address), str(address), repr(findings), caplog.text]
        assert all(CANARY not in text for text in texts)


@pytest.mark.parametrize(
    ("count", "text"), [(0, "0 bytes"), (134217728, "128 MiB"), (1610612736, "1.5 GiB"), (2**50, "1,024 TiB")]
)
def test_bytes_are_written_with_a_unit(count, text):
    assert human_bytes(count) == text

"""The check, on real servers: each finding is provoked, and each fix that is SQL is run and must help."""

import json
import logging
import uuid
from contextlib import contextmanager
from dataclasses import replace

import pytest

from importer.engine import preflight as engine_check
from importer.engine.load import ledger
from importer.engine.mysql.connection import Address, connect, execute, fetch_all, kill
from importer.engine.preflight import check
from importer.engine.units import human_bytes
from scripts.servers import free_port

CANARY = "CANARY-7f3a"
STEPS = (*engine_check.SERVER_STEPS, *engine_check.DATABASE_STEPS)


def by_name(findings):
    return {finding.name: finding for finding in findings}


def failed(findings):
    return [finding.name for finding in findings if finding.status == "fail"]


def run_as_root(server, database, sql):
    """Run statements as they stand in a fix."""
    with connect(replace(server.address, database=database.database)) as connection:
        for statement in filter(None, (part.strip() for part in sql.split(";"))):
            execute(connection, statement)


@contextmanager
def account(server, database, *grants):
    """The same database through an account of its own; "{db}" in a grant is the database."""
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
    """A global variable changed, and put back."""
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

    def test_an_account_with_the_least_rights_passes_without_a_word_about_them(self, server, database):
        with account(server, database, "INSERT, SELECT, CREATE ON {db}.*") as address:
            found = by_name(check(address))
        assert [found[name].status for name in ("privileges", "excess_privileges", "rollback")] == ["ok"] * 3

    def test_every_warning_and_failure_comes_with_a_fix(self, database):
        assert all(finding.fix for finding in check(database) if finding.status != "ok")

    def test_the_ledger_is_created_once(self, database):
        assert "created" in by_name(check(database))["ledger_table"].message
        assert "is there" in by_name(check(database))["ledger_table"].message

    def test_the_probe_leaves_no_row(self, database):
        assert by_name(check(database))["rollback"].status == "ok"
        with connect(database) as connection:
            assert fetch_all(connection, f"SELECT COUNT(*) FROM {ledger.TABLE}") == [(0,)]

    def test_sizes_are_for_people(self, database):
        assert "128 MiB" in by_name(check(database))["buffer_pool"].message

    def test_findings_are_json(self, database):
        assert json.loads(json.dumps([finding.as_json() for finding in check(database)]))[0]["name"] == "sign_in"


class TestSignIn:
    def test_wrong_password(self, database):
        (finding,) = check(replace(database, password="wrong"))
        assert finding.status == "fail"
        assert "Access denied" in finding.message
        assert "ALTER USER" in finding.fix

    def test_port_closed(self):
        (finding,) = check(Address("127.0.0.1", free_port(), "root", "", "mysql"))
        assert "No server answers" in finding.message
        assert "port" in finding.fix

    def test_unknown_host(self):
        (finding,) = check(Address("no-such-host.invalid", 3306, "root", "", "mysql"))
        assert finding.status == "fail"
        assert "no-such-host.invalid" in finding.message

    def test_unknown_database_still_has_the_server_looked_at(self, server, database):
        missing = replace(database, database=f"{database.database}_2")
        found = by_name(check(missing))
        assert failed(found.values()) == ["sign_in"]
        assert found["version"].status == "ok"
        server.run(found["sign_in"].fix.split(";")[0])
        try:
            assert failed(check(missing)) == []
        finally:
            server.run(f"DROP DATABASE {missing.database}")

    def test_an_account_without_any_right_gets_the_grant_that_it_needs(self, server, database):
        with account(server, database) as address:
            finding = by_name(check(address))["sign_in"]
            assert finding.status == "fail"
            run_as_root(server, database, finding.fix)
            assert failed(check(address)) == []

    def test_a_server_that_goes_away_in_between_is_said_once(self, database, monkeypatch):
        def goes_away(subject):
            kill(database, subject.connection.thread_id())
            return engine_check.server_settings.version(subject)

        monkeypatch.setattr(engine_check, "SERVER_STEPS", (goes_away, engine_check.access.excess_privileges))
        findings = check(database)
        assert [finding.name for finding in findings] == ["sign_in", "version", "connection"]
        assert "lost" in findings[-1].message


class TestPrivileges:
    @pytest.mark.parametrize("pattern", ["{db}", "test%", "test\\_%"])
    def test_the_grant_does_not_take_away_what_another_pattern_gave(self, server, database, pattern):
        """Of several patterns that fit, the server takes one."""
        pattern = pattern.format(db=database.database)
        with account(server, database, f"SELECT, CREATE ON `{pattern}`.*") as address:
            finding = by_name(check(address))["privileges"]
            assert finding.message.startswith("The account may not INSERT in")
            run_as_root(server, database, finding.fix)
            assert failed(check(address)) == []

    def test_the_grant_is_for_this_database_and_no_similar_one(self, server, database):
        """_ is a wildcard there: unescaped, test_1 would open testX1 too."""
        similar = replace(database, database=database.database.replace("_", "X"))
        server.run(f"CREATE DATABASE {similar.database}")
        try:
            with account(server, database) as address:
                run_as_root(server, database, by_name(check(address))["sign_in"].fix)
                assert failed(check(address)) == []
                assert "sign_in" in failed(check(replace(address, database=similar.database)))
        finally:
            server.run(f"DROP DATABASE {similar.database}")

    def test_without_create_the_ledgers_sql_is_handed_out(self, server, database):
        with account(server, database, "INSERT, SELECT ON {db}.*") as address:
            found = by_name(check(address))
            assert failed(found.values()) == ["privileges", "ledger_table"]
            assert "CREATE" in found["privileges"].message
            assert found["rollback"].message.startswith("Not tried")
            run_as_root(server, database, found["ledger_table"].fix)
            assert failed(check(address)) == []

    def test_rights_from_a_role_count(self, server, database):
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

    def test_rights_on_single_tables_are_told_apart_from_none(self, server, database):
        run_as_root(server, database, f"{ledger.CREATE_SQL}; CREATE TABLE flights (a INT); CREATE TABLE closed (a INT)")
        grants = ("INSERT, SELECT ON {db}.flights", f"INSERT, SELECT ON {{db}}.{ledger.TABLE}")
        with account(server, database, *grants) as address:
            found = by_name(check(address))
        assert found["privileges"].status == "warn"
        assert "these tables only: flights." in found["privileges"].message
        assert found["rollback"].status == "ok"

    def test_trying_rights_leaves_no_table(self, database):
        check(database)
        with connect(database) as connection:
            assert fetch_all(connection, "SHOW TABLES") == [(ledger.TABLE,)]

    def test_too_much_is_a_warning_that_names_it(self, database):
        finding = by_name(check(database))["excess_privileges"]
        assert finding.status == "warn"
        assert "SUPER, FILE" in finding.message
        assert "CREATE USER 'millrace'@" in finding.fix


class TestServerSettings:
    def test_local_infile_off(self, server, database):
        with setting(server, "local_infile", 0):
            found = by_name(check(database))
            assert failed(found.values()) == []
            assert found["local_infile"].status == "warn"
            # What is on the ladder then: MySQL here names a folder for files, MariaDB none.
            instead = "Prepared INSERT" if server.flavour == "mariadb" else "LOAD DATA from a pipe"
            assert f"Imports take {instead}" in found["local_infile"].message
            assert f"rows were loaded by {instead}" in found["rollback"].message
            server.run(found["local_infile"].fix.split(";")[0])
            assert by_name(check(database))["local_infile"].status == "ok"

    def test_read_only(self, server, database):
        with setting(server, "read_only", 1):
            found = by_name(check(database))
            assert found["writable"].status == "fail"
            assert len(found) == len(STEPS) + 1
            run_as_root(server, database, found["writable"].fix.split(": ")[-1])
            assert failed(check(database)) == []

    def test_read_only_for_an_account_that_it_binds(self, server, database):
        with (
            account(server, database, "INSERT, SELECT, CREATE ON {db}.*") as address,
            setting(server, "read_only", 1),
        ):
            found = by_name(check(address))
        assert "writable" in failed(found.values())
        assert "read" in found["privileges"].message
        assert len(found) == len(STEPS) + 1

    @pytest.mark.parametrize(("value", "what"), [(2, "crash of the machine"), (0, "crash of the server")])
    def test_weaker_durability_says_what_it_gives_up(self, server, database, value, what):
        with setting(server, "innodb_flush_log_at_trx_commit", value):
            finding = by_name(check(database))["durability"]
            assert finding.status == "warn"
            assert what in finding.message
            server.run(finding.fix.split(";")[0])
            assert by_name(check(database))["durability"].status == "ok"


class TestRollback:
    def test_a_ledger_that_cannot_roll_back_is_found_out_twice(self, server, database):
        run_as_root(server, database, ledger.CREATE_SQL.replace("ENGINE=InnoDB", "ENGINE=MyISAM"))
        found = by_name(check(database))
        assert failed(found.values()) == ["ledger_table", "rollback"]
        assert "3 are still there" in found["rollback"].message
        with connect(database) as connection:
            assert fetch_all(connection, f"SELECT COUNT(*) FROM {ledger.TABLE}") == [(0,)]
        run_as_root(server, database, found["ledger_table"].fix)
        assert failed(check(database)) == []

    def test_a_table_of_that_name_that_is_not_ours(self, server, database):
        run_as_root(server, database, f"CREATE TABLE {ledger.TABLE} (something INT) ENGINE = InnoDB")
        finding = by_name(check(database))["rollback"]
        assert finding.status == "fail"
        assert "job" in finding.message


class TestPasswordStaysSecret:
    def test_it_is_in_no_finding_no_log_and_no_repr(self, server, database, caplog):
        caplog.set_level(logging.DEBUG)
        with account(server, database, "INSERT, SELECT ON {db}.*") as address:
            findings = [*check(address), *check(replace(address, password=f"{CANARY}-wrong"))]
            findings += check(replace(address, database="nowhere"))
        said = [repr(address), str(address), repr(findings), caplog.text]
        assert all(CANARY not in text for text in said)


@pytest.mark.parametrize(
    ("count", "text"), [(0, "0 bytes"), (134217728, "128 MiB"), (1610612736, "1.5 GiB"), (2**50, "1024 TiB")]
)
def test_human_bytes(count, text):
    assert human_bytes(count) == text

"""What an import sets for its loading sessions, on real servers."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import MySQLdb
import pytest

from importer.engine.errors import Problem, RowsRefused, TargetProblem
from importer.engine.load import ledger, verify
from importer.engine.load.chunk_load import LoadCallbacks
from importer.engine.load.chunk_session import lock_table
from importer.engine.load.loader import load_chunk
from importer.engine.mysql.connection import ISOLATION, Address, connect, connect_loader, execute, fetch_all
from importer.engine.mysql.server_info import read_server
from importer.engine.plan.options import Options, check_options
from importer.engine.plan.plan import ImportPlan
from importer.engine.plan.stored_plan import plan_from_json, plan_to_json
from importer.engine.preflight.session_settings import check_session
from importer.engine.schema.table import Key
from importer.engine.stored import to_json
from tests.engine.loads import account_with, load_file, rows_of, run_sql, works
from tests.engine.planner.test_planner import column, plan, table
from tests.targets import TestServer

pytestmark = pytest.mark.both_servers


@pytest.fixture
def child(database: Address) -> Address:
    """A table t with a unique key, and a foreign key to p, which has the row 1."""
    run_sql(
        database,
        "CREATE TABLE p (id INT PRIMARY KEY)",
        "INSERT INTO p VALUES (1)",
        "CREATE TABLE t (n INT, u INT, UNIQUE KEY u (u), CONSTRAINT parent FOREIGN KEY (n) REFERENCES p (id))",
    )
    return database


def planned(address: Address, options: Options, source: Path) -> ImportPlan:
    return works(address, source, ("n", "u"), options)[0].plan


def why(plan: ImportPlan, start: str) -> str:
    return next(each.why for each in plan.reasons if each.choice.startswith(start))


class TestValues:
    @pytest.mark.parametrize(
        ("session", "said"),
        [
            ({"sql_mode": ""}, "sql_mode cannot be set"),
            ({"autocommit": "1"}, "autocommit cannot be set"),
            ({"sort_buffer_size": "1K"}, "sort_buffer_size is '1K'"),
            ({"sort_buffer_size": "1M; DROP TABLE t"}, "sort_buffer_size is"),
            ({"binlog_row_image": "none"}, "binlog_row_image is 'none'.*full, minimal, noblob"),
        ],
    )
    def test_only_what_is_on_the_list_and_in_its_bounds(self, session: dict, said: str):
        with pytest.raises(Problem, match=said):
            check_options(Options(session=session))

    def test_isolation_is_one_of_four(self):
        with pytest.raises(Problem, match="READ-COMMITTED"):
            check_options(Options(isolation="NONE"))


def test_what_was_asked_for_is_set_and_the_rest_stays(child: Address, source):
    options = Options(session={"sort_buffer_size": "8M"}, isolation="SERIALIZABLE", foreign_key_checks=False)
    plan = planned(child, options, source("1,1\n"))
    assert plan.session == {"sort_buffer_size": 8388608, ISOLATION: "SERIALIZABLE", "foreign_key_checks": 0}
    assert plan_from_json(plan_to_json(plan)).session == plan.session
    with connect_loader(child, session=plan.session) as connection:
        asked = "@@sort_buffer_size, @@foreign_key_checks, @@unique_checks, @@autocommit, @@time_zone"
        assert fetch_all(connection, f"SELECT {asked}") == [(8388608, 0, 1, 0, "+00:00")]
        shown = fetch_all(connection, "SHOW SESSION VARIABLES LIKE 't%isolation'")
        assert {value for _, value in shown} == {"SERIALIZABLE"}


@pytest.mark.parametrize(
    "options",
    [
        Options(isolation="REPEATABLE-READ"),
        Options(isolation="READ-UNCOMMITTED"),
        Options(foreign_key_checks=False),
        Options(unique_checks=False),
        Options(session={"net_read_timeout": "120", "innodb_lock_wait_timeout": "5"}),
    ],
    ids=lambda options: next(iter({k: v for k, v in to_json(options).items() if v != to_json(Options())[k]})),
)
def test_a_load_is_exact_with_each_setting(child: Address, source, options: Options):
    work = works(child, source("1,1\n1,2\n"), ("n", "u"), options)[0]
    assert load_chunk(work, LoadCallbacks()).rows == 2
    assert load_chunk(replace(work, attempt=2), LoadCallbacks()).already
    assert rows_of(child) == [(1, 1), (1, 2)]
    with connect(child) as connection:
        assert verify.missing_chunks(connection, "here", "job-1", {0: 2, 1: 5}) == {1}


class TestForeignKeyChecks:
    def test_off_lets_a_row_without_its_parent_in(self, child: Address, source):
        path = source("7,1\n")
        with pytest.raises(RowsRefused):
            load_chunk(works(child, path, ("n", "u"), Options())[0], LoadCallbacks())
        load_chunk(works(child, path, ("n", "u"), Options(foreign_key_checks=False))[0], LoadCallbacks())
        assert rows_of(child) == [(7, 1)]


@pytest.fixture
def buffering(server: TestServer) -> Iterator[TestServer]:
    """The server with its change buffer in use; afterwards as it was."""
    before = rows_of(server.address, "SELECT @@GLOBAL.innodb_change_buffering")[0][0]
    server.run("SET GLOBAL innodb_change_buffering = 'inserts'")
    yield server
    server.run(f"SET GLOBAL innodb_change_buffering = '{before}'")


class TestUniqueChecks:
    def test_off_says_which_key_is_not_watched_and_how_to_look(self, buffering, child: Address, source):
        said = why(planned(child, Options(unique_checks=False), source("1,1\n")), "unique_checks is off")
        sql = said.partition("Look afterwards: ")[2]
        assert "IGNORE INDEX (`u`)" in sql
        assert rows_of(child, sql) == []

    @pytest.mark.parametrize("more", [{"on_duplicate": "skip"}, {"on_duplicate": "replace"}, {"mode": "upsert"}])
    def test_off_is_refused_where_duplicates_must_be_seen(self, buffering, child: Address, source, more: dict):
        with pytest.raises(Problem, match="does not see every duplicate in u"):
            planned(child, Options(unique_checks=False, **more), source("1,1\n"))

    def test_off_without_a_change_buffer_changes_nothing(self, server: TestServer, child: Address, source):
        with connect(child) as connection:
            real = read_server(connection, child)
        plain = replace(real, variables={**real.variables, "innodb_change_buffering": "none"})
        of = table(column("a"), keys=(Key("k", ("a",), True),))
        said = why(plan(of=of, on=plain, options=Options(unique_checks=False, on_duplicate="skip")), "unique_checks")
        assert "changes nothing here" in said

    def test_both_off_is_refused_on_mariadb_alone(self, server: TestServer, child: Address, source):
        off = Options(unique_checks=False, foreign_key_checks=False)
        if server.flavour == "mariadb":
            with pytest.raises(Problem, match="loses rows of an empty table"):
                planned(child, off, source("1,1\n"))
        else:
            assert planned(child, off, source("1,1\n")).session == {"unique_checks": 0, "foreign_key_checks": 0}


class TestTrial:
    def trial(self, address: Address, source, account: Address | None = None, **session: str) -> None:
        plan = planned(address, Options(session=session), source("1,1\n"))
        with connect(account or address) as connection:
            check_session(connection, plan, read_server(connection, address))

    def test_a_missing_right_names_the_grant(self, child: Address, source):
        with (
            account_with(child, "SELECT") as few,
            pytest.raises(TargetProblem, match=r"may not set sql_log_bin.*GRANT (BINLOG|SESSION_VARIABLES_)"),
        ):
            self.trial(child, source, few, sql_log_bin="0")

    def test_sql_log_bin_needs_the_ledger_to_be_there(self, child: Address, source):
        with pytest.raises(TargetProblem, match="Run the target's check first"):
            self.trial(child, source, sql_log_bin="0")
        with connect(child) as connection:
            ledger.create(connection)
        self.trial(child, source, sql_log_bin="0")

    def test_a_value_that_the_server_changes_is_not_taken(self, child: Address, source):
        with pytest.raises(TargetProblem, match="The server changes"):
            self.trial(child, source, read_buffer_size="8193")

    def test_what_only_mariadb_has(self, server: TestServer, child: Address, source):
        if server.flavour == "mariadb":
            self.trial(child, source, max_statement_time="0")
        else:
            with pytest.raises(TargetProblem, match="MySQL has no max_statement_time"):
                self.trial(child, source, max_statement_time="0")


class TestLockTable:
    @pytest.fixture
    def alone(self, database: Address, source):
        """The work of one chunk that locks its table."""
        run_sql(database, "CREATE TABLE t (n INT, u INT)")
        return works(database, source("1,1\n1,2\n"), ("n", "u"), Options(lock_table=True))[0]

    def test_nobody_else_gets_at_the_table_until_the_end(self, alone):
        with connect(alone.address) as other:
            ledger.create(other)
            execute(other, "SET SESSION lock_wait_timeout = 1")
            with connect_loader(alone.address, session=alone.plan.session) as connection:
                lock_table(connection, alone.plan)
                execute(connection, "INSERT INTO t VALUES (5, 5)")
                execute(connection, "COMMIT")
                with pytest.raises(MySQLdb.OperationalError, match="Lock wait timeout"):
                    fetch_all(other, "SELECT * FROM t")
            assert fetch_all(other, "SELECT * FROM t") == [(5, 5)]

    def test_loads_exactly_once_and_gives_the_table_free(self, alone):
        assert load_chunk(alone, LoadCallbacks()).rows == 2
        assert load_chunk(replace(alone, attempt=2), LoadCallbacks()).already
        assert rows_of(alone.address) == [(1, 1), (1, 2)]

    def test_rows_that_cannot_go_in_are_found_as_ever(self, alone, source):
        path = source("1,1\nx,2\n")
        with pytest.raises(RowsRefused, match="line 2"):
            load_chunk(works(alone.address, path, ("n", "u"), Options(lock_table=True))[0], LoadCallbacks())
        assert rows_of(alone.address) == []
        rejecting = Options(lock_table=True, on_error="reject")
        assert load_file(alone.address, path, ("n", "u"), rejecting).lines == [2]
        assert rows_of(alone.address) == [(1, 1)]

    def test_needs_a_right_of_its_own(self, alone):
        with (
            account_with(alone.address, "SELECT, INSERT") as few,
            connect(few) as connection,
            pytest.raises(TargetProblem, match=r"may not lock.*GRANT INSERT, SELECT, LOCK TABLES ON"),
        ):
            check_session(connection, alone.plan, read_server(connection, few))
        with account_with(alone.address, "SELECT, INSERT, LOCK TABLES") as enough, connect(enough) as connection:
            check_session(connection, alone.plan, read_server(connection, enough))

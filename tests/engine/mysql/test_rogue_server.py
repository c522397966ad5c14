"""A hostile server must never get a file of ours (server-behaviour.md, The local-infile callback)."""

from contextlib import suppress

import MySQLdb
import pytest

from importer.engine.errors import Problem, TargetProblem
from importer.engine.load import ledger
from importer.engine.mysql.connection import FEED_NAME, Address, connect, connect_loader, execute, fetch_all
from importer.engine.preflight.check import check
from importer.engine.schema.table import read_table
from importer.engine.target.privileges import account
from tests.rogue_server import RogueServer

CANARY = b"canary-7f3a: no server may read this"
OUR_ROWS = b"1,these rows are for the server\n"


@pytest.fixture
def canary(source):
    return str(source(CANARY, "canary.txt"))


def address_of(rogue):
    return Address("127.0.0.1", rogue.port, "somebody", "secret", "anything")


def load(connection, name=FEED_NAME):
    connection.feed = [OUR_ROWS]
    execute(connection, f"LOAD DATA LOCAL INFILE '{name}' INTO TABLE t")


class TestRogueServer:
    def test_rogue_server_robs_a_careless_client(self, canary):
        """The rogue server works; otherwise the tests below would prove nothing."""
        with RogueServer(canary, attack=b"SET NAMES") as rogue:
            with suppress(MySQLdb.Error):
                MySQLdb.connect(host="127.0.0.1", port=rogue.port, user="x", charset="utf8mb4", local_infile=1).close()
            assert rogue.attacked
            assert rogue.stolen == CANARY

    @pytest.mark.parametrize(
        ("open_connection", "attack"),
        [(connect, b"SET NAMES"), (connect_loader, b"SET NAMES"), (connect_loader, b"SET SESSION")],
    )
    def test_rogue_server_gets_no_file_while_we_connect(self, canary, open_connection, attack):
        with RogueServer(canary, attack) as rogue:
            with suppress(Problem), open_connection(address_of(rogue)):
                pass
            assert rogue.attacked
            assert rogue.stolen == b""

    @pytest.mark.parametrize("open_connection", [connect, connect_loader])
    def test_rogue_server_gets_no_file_in_answer_to_a_query(self, canary, open_connection):
        with RogueServer(canary, b"SELECT 7") as rogue:
            with pytest.raises(Problem), open_connection(address_of(rogue)) as connection:
                fetch_all(connection, "SELECT 7")
            assert rogue.attacked == [b"SELECT 7"]
            assert rogue.stolen == b""

    @pytest.mark.parametrize("wanted", ["/etc/passwd", "canary", "./millrace", "millrace.txt", ""])
    def test_rogue_server_gets_no_other_file_in_answer_to_our_load(self, canary, wanted):
        with RogueServer(canary if wanted == "canary" else wanted, b"LOAD DATA") as rogue:
            with pytest.raises(Problem), connect_loader(address_of(rogue)) as connection:
                load(connection)
            assert rogue.attacked
            assert rogue.stolen == b""

    def test_server_that_requests_the_feed_gets_our_rows(self, canary):
        with RogueServer(FEED_NAME, b"LOAD DATA") as rogue:
            with connect_loader(address_of(rogue)) as connection:
                load(connection)
            assert rogue.stolen == OUR_ROWS

    def test_rogue_server_gets_no_rows_before_our_load(self, canary):
        with RogueServer(FEED_NAME, b"SELECT 7") as rogue:
            with pytest.raises(Problem), connect_loader(address_of(rogue)) as connection:
                fetch_all(connection, "SELECT 7")
            assert rogue.attacked
            assert rogue.stolen == b""

    def test_rogue_server_gets_no_file_from_a_preflight_check(self, canary):
        with RogueServer(canary, b"S") as rogue:
            findings = check(address_of(rogue))
            assert rogue.attacked
            assert rogue.stolen == b""
        assert any(finding.status == "fail" for finding in findings)


class TestMuteServer:
    """It accepts every login and answers every statement, queries too, with OK and no rows."""

    def test_a_query_with_one_row_by_nature_is_a_problem_without_it(self):
        nothing = pytest.raises(TargetProblem, match=r"answers SELECT CURRENT_USER\(\) with nothing")
        with RogueServer("", attack=b"NOTHING") as mute, connect(address_of(mute)) as connection, nothing:
            account(connection)

    def test_the_preflight_check_reports_it_as_findings(self):
        with RogueServer("", attack=b"NOTHING") as mute:
            findings = {each.name: each for each in check(address_of(mute))}
        assert findings["sign_in"].status == "fail"
        assert "answers SELECT CURRENT_USER() with nothing" in findings["sign_in"].message
        assert "host and port" in findings["sign_in"].fix
        assert len(findings) > 10

    def test_a_load_ends_as_a_problem_and_sends_no_row(self, source):
        source("1\n")
        with RogueServer("", attack=b"NOTHING") as mute:
            with connect(address_of(mute)) as connection, pytest.raises(Problem):
                read_table(connection, "anything", "t")
            with connect(address_of(mute)) as connection:
                assert not ledger.exists(connection)

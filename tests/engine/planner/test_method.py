"""Which method the planner takes, and what it says about it."""

from dataclasses import replace
from pathlib import Path

import MySQLdb
import pytest

from importer.engine.errors import Problem, TargetProblem
from importer.engine.load.methods import load_data_local
from importer.engine.mapping.columns import ColumnMapping
from importer.engine.mysql.server_info import Server
from importer.engine.mysql.servers.kinds import SAFEST_CHUNK
from importer.engine.plan.methods import FROM_FILE
from importer.engine.plan.options import Options
from importer.engine.plan.plan import ImportPlan, Reason
from importer.engine.plan.stored_plan import plan_from_json, plan_to_json
from importer.engine.planner import PlanningContext, make_plan
from importer.engine.source.dialect import RFC4180
from tests.engine.tables import table

OPEN = Server("MySQL", "9.7.4", {"local_infile": "ON"}, local=True, cores=2)
CLOSED = replace(OPEN, variables={"local_infile": "OFF"})
PROXY = replace(OPEN, also=("ProxySQL",))


def plan(server: Server, data_bytes: int = 1000, **options) -> ImportPlan:
    of = table(a="int", b="varchar(9)")
    mapping = [ColumnMapping("a"), ColumnMapping("b", null_markers=("NA",))]
    return make_plan(PlanningContext(data_bytes, RFC4180, of, mapping, Options(**options), server))


def reason(made: ImportPlan) -> Reason:
    return next(each for each in made.reasons if each.option == "method")


def test_local_is_first():
    made = plan(OPEN)
    assert (made.statements.method, made.statements.rows_per_statement) == ("load_data_local", None)
    assert not reason(made).holds_back


@pytest.mark.parametrize(
    ("server", "said"),
    [
        (CLOSED, "SET GLOBAL local_infile = 1"),
        (PROXY, "the server behind it"),
        (replace(OPEN, flavour="Vitess"), "INSERT is safe on every server"),
        (OPEN.after_refusal(of_pipe=False), "behind the proxy"),
    ],
)
def test_a_server_without_local_takes_inserts(server: Server, said: str):
    made = plan(server)
    assert (made.statements.method, made.statements.rows_per_statement) == ("insert_prepared", 1000)
    assert said in reason(made).why
    assert reason(made).holds_back
    assert made.statements.plain == (
        "INSERT IGNORE INTO `s`.`t` (`a`, `b`)\n"
        "VALUES (@field1, IF(CAST(@field2 AS BINARY) IN (_binary'NA'), NULL, @field2))"
    )


UNTRIED = replace(OPEN, flavour="Unknown server", reads_files=True)


def test_an_untried_server_gets_small_transactions_and_keeps_its_keys():
    made = plan(UNTRIED, data_bytes=10**9)
    assert made.statements.method == "insert_prepared"
    assert made.chunk_bytes == SAFEST_CHUNK
    assert (made.transaction_bytes, made.temporary_changes, made.statements.pipe_folder) == (0, None, "")


@pytest.mark.parametrize(
    "options",
    [
        {"mode": "replace"},
        {"on_duplicate": "skip"},
        {"indexes": "defer"},
        {"lock_table": True},
        {"server_variables": {"sync_binlog": "0"}},
        {"chunk_bytes": 2 * SAFEST_CHUNK},
        {"method": "load_data_local"},
        {"method": "load_data_server"},
    ],
)
def test_an_untried_server_refuses_what_is_outside_the_safe_path(options: dict):
    with pytest.raises(TargetProblem, match="have not been tried") as refused:
        plan(UNTRIED, **options)
    assert refused.value.option == next(iter(options))


@pytest.mark.parametrize("options", [{"lock_table": True}, {"server_variables": {"sync_binlog": "0"}}])
def test_a_galera_node_refuses_what_holds_on_one_node_only(options: dict):
    node = replace(OPEN, variables={**OPEN.variables, "wsrep_on": "ON"})
    with pytest.raises(TargetProblem, match="on one node only"):
        plan(node, **options)


def test_a_server_that_shares_a_folder_reads_a_pipe(tmp_path: Path):
    sharing = replace(CLOSED, reads_files=True, files_dir=str(tmp_path))
    made = plan(sharing)
    assert (made.statements.method, made.statements.pipe_folder) == ("load_data_server", str(tmp_path))
    assert made.statements.plain.startswith(f"LOAD DATA INFILE '{tmp_path}/millrace' IGNORE INTO TABLE `s`.`t`\n")
    assert plan(sharing.after_refusal(of_pipe=True)).statements.method == "insert_prepared"
    assert plan(replace(sharing, reads_files=False)).statements.method == "insert_prepared"


# As MySQL 9.7.4 shows it in SHOW VARIABLES, by --secure-file-priv=NULL: a text, and no NULL of SQL.
@pytest.mark.parametrize(("folder", "loads"), [("NULL", False), ("", True), ("/var/lib/mysql-files/", True)])
def test_a_server_without_a_folder_for_files_loads_none(folder: str, loads: bool):
    server = replace(OPEN, variables={**OPEN.variables, "secure_file_priv": folder}, reads_files=folder != "NULL")
    if loads:
        FROM_FILE.require(server)
        return
    with pytest.raises(TargetProblem, match="secure_file_priv is NULL") as refused:
        FROM_FILE.require(server)
    assert "my.cnf" in refused.value.advice
    assert "GRANT" not in str(refused.value)


def test_json_brings_all_of_it_back(tmp_path: Path):
    for made in (plan(CLOSED), plan(replace(CLOSED, reads_files=True, files_dir=str(tmp_path)))):
        assert plan_from_json(plan_to_json(made)) == made


@pytest.mark.parametrize(
    ("server", "options", "said"),
    [
        (CLOSED, {"method": "load_data_local"}, "local_infile is OFF"),
        (PROXY, {"method": "load_data_local"}, "ProxySQL"),
        (OPEN, {"method": "load_data_server"}, "Set SERVER_FILES_DIR"),
        (replace(OPEN, files_dir="."), {"method": "load_data_server"}, "GRANT FILE"),
        (OPEN, {"method": "insert", "rows_per_statement": 0}, "from 1 to"),
    ],
)
def test_what_was_asked_for_and_cannot_be_had(server: Server, options: dict, said: str):
    with pytest.raises(Problem, match=said):
        plan(server, data_bytes=2 * 2**20, **options)


def test_rows_per_statement_are_as_asked():
    assert plan(OPEN, method="insert", rows_per_statement=40).statements.rows_per_statement == 40


@pytest.mark.parametrize(
    ("number", "message", "refused"),
    [
        (3948, "Loading local data is disabled; this must be enabled on both the client and server sides", True),
        (4166, "The used command is not allowed because the MariaDB server or client has disabled it", True),
        (1047, "Unsupported 'LOAD DATA LOCAL INFILE' command", True),
        (1105, "VT12001: unsupported: LOAD DATA", True),
        (1105, "disk quota exceeded", False),
        (1062, "Duplicate entry '1' for key 'PRIMARY'", False),
    ],
)
def test_what_servers_and_proxies_say_instead_of_loading(number: int, message: str, refused: bool):
    assert load_data_local.is_refusal(MySQLdb.OperationalError(number, message)) is refused

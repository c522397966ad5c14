"""What the planner decides, and why."""

import pytest

from importer.engine.errors import Problem
from importer.engine.mapping.columns import ColumnMapping
from importer.engine.mysql.server_info import Server
from importer.engine.plan.options import Options
from importer.engine.planner import PlanningContext, make_plan
from importer.engine.schema.indexes import Indexes, KeyDefinition
from importer.engine.schema.table import Column, Key, Table
from importer.engine.source.dialect import RFC4180
from importer.engine.units import GIB, MIB


def column(name: str, **values) -> Column:
    given = {"type": "int(11)", "nullable": True, "default": None, "auto_increment": False, "generated": False}
    return Column(name=name, **{**given, **values})


def table(*columns: Column, **values) -> Table:
    return Table(**{"schema": "s", "name": "t", "engine": "InnoDB", "columns": columns or (column("a"),), **values})


def server(local: bool = True, **variables: str) -> Server:
    return Server(
        "MariaDB", "10.11.19", {"local_infile": "ON", "time_zone": "+00:00", **variables}, local=local, cores=6
    )


def plan(size: int = 10**9, of=None, names=("a",), options=None, on=None, **known):
    mapping = [ColumnMapping(name) for name in names]
    return make_plan(
        PlanningContext(size, RFC4180, of or table(), mapping, options or Options(), on or server(), **known)
    )


def why(made, start: str) -> str:
    return next(each.why for each in made.reasons if each.choice.startswith(start))


class TestParallelism:
    def test_shares_this_machines_processors_with_a_local_server(self):
        assert plan().parallelism == 6

    @pytest.mark.parametrize("asked", [{"chunk_bytes": MIB - 1, "on_error": "reject"}, {"commit_rows": 500}])
    def test_is_one_more_where_small_chunks_wait_for_the_disk(self, asked: dict[str, int]):
        made = plan(options=Options(**asked), record_bytes=100)
        assert made.parallelism == 7
        assert "wait for the disk" in why(made, "7 in parallel")

    @pytest.mark.parametrize(
        "asked", [{"chunk_bytes": MIB, "on_error": "reject"}, {"commit_rows": 20_000}, {"chunk_bytes": 1000}]
    )
    def test_is_that_of_the_processors_for_transactions_that_could_be_planned(self, asked: dict):
        assert plan(options=Options(**asked), record_bytes=100).parallelism == 6

    def test_of_a_remote_server_is_four(self):
        assert plan(on=server(local=False)).parallelism == 4

    def test_of_a_small_file_is_one(self):
        made = plan(MIB // 2)
        assert made.parallelism == 1
        assert "file is small" in why(made, "1 in parallel")

    def test_is_as_asked(self):
        made = plan(options=Options(parallelism=3))
        assert made.parallelism == 3
        assert why(made, "3 in parallel").startswith("as requested")


class TestAutoIncrement:
    def given(self, type_: str, names=("a",), mode="append", **values):
        numbered = table(column("n", type=type_, auto_increment=True), column("a"), **values)
        interleaved = server(innodb_autoinc_lock_mode="2")
        made = plan(6_000_000, of=numbered, names=names, options=Options(mode=mode), on=interleaved, record_bytes=10)
        return [each for each in made.reasons if "too few numbers" in each.choice]

    def test_that_has_too_few_numbers_is_told(self):
        [told] = self.given("mediumint(8) unsigned", next_number=16_500_000)
        assert told.choice == "n has too few numbers left: 277,216"
        assert "ALTER TABLE `s`.`t` MODIFY `n` BIGINT UNSIGNED NOT NULL AUTO_INCREMENT" in told.why

    def test_that_may_have_too_few_by_what_each_chunk_takes_ahead(self):
        [told] = self.given("mediumint", next_number=7_500_000)
        assert told.choice == "n may have too few numbers left: 888,608"
        assert "take ahead and not use" in told.why

    @pytest.mark.parametrize(
        ("type_", "known"),
        [
            ("int(11)", {}),
            ("mediumint", {}),
            ("mediumint", {"next_number": 8_000_000, "names": ("n",)}),
            ("mediumint", {"next_number": 8_000_000, "mode": "replace"}),
        ],
    )
    def test_that_has_enough_is_no_matter(self, type_: str, known: dict):
        assert self.given(type_, **known) == []


class TestOrder:
    @pytest.mark.parametrize(("choice", "stays"), [("skip", "the first"), ("replace", "the last")])
    def test_of_chunks_is_kept_where_it_decides_which_row_stays(self, choice: str, stays: str):
        made = plan(options=Options(on_duplicate=choice, parallelism=4))
        assert (made.ordered, made.parallelism) == (True, 1)
        assert stays in why(made, "One chunk after another")
        assert ("REPLACE INTO" in made.statements.plain) is (choice == "replace")

    def test_of_chunks_does_not_matter_where_no_row_takes_anothers_place(self):
        assert not plan().ordered
        assert not plan(options=Options(mode="atomic", on_duplicate="replace")).ordered


class TestChunks:
    @pytest.mark.parametrize("size", [100, MIB, 60 * MIB, 10**12])
    def test_are_neither_so_small_that_they_cost_nor_so_large_that_one_is_waited_for(self, size: int):
        assert MIB <= plan(size).chunk_bytes <= 32 * MIB

    def test_are_enough_for_every_session(self):
        made = plan(100 * MIB)
        assert 100 * MIB / made.chunk_bytes >= 8 * made.parallelism

    def test_the_first_is_small_so_that_its_rows_are_in_at_once(self):
        assert plan().first_chunk_bytes <= 256 * 1024

    def test_are_told_with_the_small_ones_at_the_beginning(self):
        told = why(plan(100 * 1024), "One chunk of at most 1 MiB")
        assert told == "the file is no larger; the chunk is one transaction"
        assert why(plan(10 * MIB, options=Options(parallelism=1)), "About 10 chunks of at most 1.25 MiB")

    def test_and_with_those_at_the_end(self):
        assert why(plan(10 * MIB, options=Options(parallelism=2)), "About 17 chunks of at most 1 MiB")

    def test_have_as_many_rows_as_are_to_be_committed_together(self):
        made = plan(options=Options(commit_rows=1))
        assert made.chunk_rows == 1
        assert why(made, "Chunks of at most 1 row and").startswith("as requested")

    def test_size_is_as_asked(self):
        assert plan(options=Options(chunk_bytes=77)).chunk_bytes == 77

    def test_share_transactions_of_the_size_that_is_planned_where_smaller_ones_are_asked_for(self):
        made = plan(options=Options(chunk_bytes=77_000))
        assert made.transaction_bytes == plan().chunk_bytes == 20_833_333
        told = why(made, "About 12,988 chunks of at most 75.2 KiB")
        assert told == "as requested; up to 19.9 MiB of them that follow each other are one transaction"

    @pytest.mark.parametrize(
        "asked",
        [
            {"commit_rows": 500},
            {"on_error": "reject"},
            {"on_duplicate": "skip"},
            {"on_duplicate": "replace"},
            {"verify": "full"},
            {"lock_table": True},
            {"mode": "upsert"},
            {"chunk_bytes": 64 * MIB},
        ],
    )
    def test_are_a_transaction_each_where_their_rows_have_to_be_known_or_as_asked(self, asked: dict):
        keyed = table(column("a", nullable=False), keys=(Key("PRIMARY", ("a",), True),))
        made = plan(of=keyed, options=Options(**{"chunk_bytes": 77_000, **asked}))
        assert made.transaction_bytes == 0
        assert any("each is one transaction" in each.why for each in made.reasons)

    def test_are_a_transaction_each_in_a_table_that_cannot_roll_back(self):
        made = plan(of=table(engine="MyISAM"), options=Options(mode="replace", chunk_bytes=77_000))
        assert made.transaction_bytes == 0

    def test_are_a_transaction_each_in_a_cluster(self):
        assert plan(options=Options(chunk_bytes=77_000), on=server(wsrep_on="ON")).transaction_bytes == 0

    def test_share_none_that_the_binary_log_has_no_room_for(self):
        logs = server(log_bin="ON", max_binlog_cache_size=str(4 * MIB), binlog_cache_size="32768")
        made = plan(options=Options(chunk_bytes=77_000), on=logs)
        assert made.transaction_bytes == MIB
        assert "SET GLOBAL binlog_cache_size = 2097152" in why(made, "The binary log is on")


class TestObstacles:
    @pytest.mark.parametrize(
        ("of", "names", "said"),
        [
            (table(engine="MyISAM"), ("a",), "cannot roll back"),
            (table(engine=""), ("a",), "is a view"),
            (table(), ("",), "No field of the file"),
            (table(), ("nope",), "no column nope"),
            (table(), ("a", "A"), "The column a is given twice"),
            (table(column("a", generated=True)), ("a",), "computes the column a"),
            (table(column("a"), column("b", nullable=False)), ("a",), "goes into b, which must have a value"),
        ],
    )
    def test_of_table_and_mapping(self, of: Table, names: tuple, said: str):
        with pytest.raises(Problem, match=said):
            plan(of=of, names=names)

    @pytest.mark.parametrize(
        ("variables", "said"),
        [
            ({"wsrep_on": "ON", "wsrep_load_data_splitting": "ON"}, "Galera"),
            ({"super_read_only": "ON"}, "read-only"),
        ],
    )
    def test_of_the_server(self, variables: dict, said: str):
        with pytest.raises(Problem, match=said):
            plan(on=server(**variables))

    def test_a_column_with_a_default_or_a_number_of_its_own_needs_no_field(self):
        numbered = column("id", nullable=False, auto_increment=True)
        assert plan(of=table(column("a"), numbered, column("d", nullable=False, default="x")))


NUMBERED = table(column("id", auto_increment=True, nullable=False), column("a"))


class TestServersLimits:
    @pytest.mark.parametrize("mode", ["0", "1"])
    def test_where_one_load_runs_at_a_time_two_sessions_are_enough(self, mode: str):
        made = plan(of=NUMBERED, on=server(innodb_autoinc_lock_mode=mode))
        assert made.parallelism == 2
        assert f"innodb_autoinc_lock_mode {mode} lets one load at a time" in why(made, "2 in parallel")

    def test_that_does_not_matter_without_auto_increment_or_with_mode_2(self):
        assert plan(on=server(innodb_autoinc_lock_mode="1")).parallelism == 6
        assert plan(of=NUMBERED, on=server(innodb_autoinc_lock_mode="2")).parallelism == 6

    def test_connections_are_left_for_others(self):
        made = plan(on=server(max_connections="151", max_user_connections="5"), options=Options(parallelism=8))
        assert made.parallelism == 2
        assert "SET GLOBAL max_user_connections = 11" in why(made, "2 in parallel")

    def test_no_limit_is_none(self):
        assert plan(on=server(max_connections="151", max_user_connections="0")).parallelism == 6

    def test_replicas_wait_for_smaller_chunks(self):
        assert plan(on=server(log_bin="ON")).chunk_bytes <= 8 * MIB < plan().chunk_bytes

    @pytest.mark.parametrize(
        "variables",
        [
            {"log_bin": "ON", "max_binlog_cache_size": str(16 * MIB)},
            {"wsrep_on": "ON", "wsrep_max_ws_size": str(16 * MIB)},
        ],
    )
    def test_a_chunk_fits_a_transaction(self, variables: dict):
        made = plan(on=server(**variables))
        assert made.chunk_bytes <= 4 * MIB
        assert "small enough for" in why(made, "About ")

    def test_chunks_that_were_asked_for_larger_are_told(self):
        on = server(log_bin="ON", max_binlog_cache_size=str(16 * MIB))
        made = plan(on=on, options=Options(chunk_bytes=8 * MIB))
        assert made.chunk_bytes == 8 * MIB
        assert "those of 4 MiB fit" in why(made, "max_binlog_cache_size is 16 MiB")


class TestLock:
    def test_is_for_one_session(self):
        made = plan(options=Options(lock_table=True))
        assert (made.lock_table, made.parallelism) == (True, 1)
        assert made.session == {"lock_wait_timeout": 50}

    @pytest.mark.parametrize(
        ("of", "asked", "said"),
        [
            (table(triggers=("log_it",)), {}, "foreign keys or triggers .log_it."),
            (table(), {"parallelism": 2}, "Only one session"),
            (table(), {"mode": "atomic"}, "guard the staging table"),
        ],
    )
    def test_is_refused(self, of: Table, asked: dict, said: str):
        with pytest.raises(Problem, match=said):
            plan(of=of, options=Options(lock_table=True, **asked))


@pytest.mark.parametrize(("mode", "wsrep", "said"), [("replace", "OFF", "empty table"), ("append", "ON", "every node")])
def test_a_load_kept_from_the_binary_log_is_refused_where_others_would_lose_by_it(mode: str, wsrep: str, said: str):
    with pytest.raises(Problem, match=said):
        plan(options=Options(mode=mode, session={"sql_log_bin": "0"}), on=server(wsrep_on=wsrep))


class TestReasons:
    def test_what_holds_back_is_marked(self):
        keys = (Key("PRIMARY", ("a",), True), Key("k", ("a",), False))
        made = plan(
            of=table(column("a", auto_increment=True), keys=keys, triggers=("log_it",)),
            on=server(innodb_autoinc_lock_mode="1", innodb_log_file_size=str(96 * MIB)),
        )
        held = " ".join(each.choice for each in made.reasons if each.holds_back)
        for part in ("log_it", "innodb_autoinc_lock_mode is 1", "redo log holds 96 MiB"):
            assert part in held

    @pytest.mark.parametrize(("size", "empty", "slower"), [(GIB, True, True), (MIB, True, False), (GIB, False, False)])
    def test_keys_that_stay_on_hold_back_only_what_would_be_faster_without(self, size: int, empty: bool, slower: bool):
        of = table(keys=(Key("k", ("a",), False),))
        known = Indexes(keys=(KeyDefinition("k", "KEY `k` (`a`)"),), empty=empty)
        made = plan(size, of, options=Options(indexes="keep"), indexes=known)
        assert [each.holds_back for each in made.reasons if each.option == "indexes"] == [slower]

    @pytest.mark.parametrize(
        ("variables", "said"),
        [
            ({"innodb_log_file_size": str(96 * MIB)}, "innodb_log_file_size = 2G under"),
            ({"innodb_redo_log_capacity": str(96 * MIB)}, "SET GLOBAL innodb_redo_log_capacity = 2147483648"),
            (
                {"innodb_log_file_size": str(96 * MIB), "innodb_io_capacity": "200"},
                "SET GLOBAL innodb_io_capacity = 2000",
            ),
            ({"innodb_buffer_pool_size": str(128 * MIB)}, "SET GLOBAL innodb_buffer_pool_size = 1342177280"),
            ({"log_bin": "ON", "binlog_cache_size": "32768"}, "SET GLOBAL binlog_cache_size = 16777216"),
            ({"innodb_autoinc_lock_mode": "1"}, "innodb_autoinc_lock_mode = 2 under"),
            ({"innodb_autoinc_lock_mode": "1", "binlog_format": "STATEMENT"}, "binlog_format = ROW and innodb_autoinc"),
            ({"wsrep_on": "ON", "wsrep_max_ws_rows": "1000"}, "commit_rows 1000"),
            ({"wsrep_on": "ON"}, "load through one node only"),
        ],
    )
    def test_each_names_the_line_to_change(self, variables: dict, said: str):
        made = plan(of=NUMBERED, on=server(**variables))
        assert any(said in each.why for each in made.reasons)

    def test_a_server_with_room_for_the_table_is_not_blamed(self):
        roomy = {"innodb_buffer_pool_size": str(4 * GIB), "innodb_log_file_size": str(2 * GIB)}
        quiet = {"log_bin": "OFF", "innodb_io_capacity": "200", "innodb_flush_log_at_trx_commit": "1"}
        assert not any(each.holds_back for each in plan(on=server(**roomy, **quiet)).reasons)

    def test_what_is_in_the_table_counts_for_the_buffer_pool(self):
        on = server(innodb_buffer_pool_size=str(4 * GIB))
        full = table(data_bytes=3 * GIB, index_bytes=2 * GIB)
        assert "about 6.1" in next(each.choice for each in plan(of=full, on=on).reasons if "buffer pool" in each.choice)

    def test_lost_durability_is_told(self):
        made = plan(on=server(innodb_flush_log_at_trx_commit="2"))
        assert "ledger rows with them" in why(made, "innodb_flush_log_at_trx_commit is 2")

    def test_a_backtick_in_a_name_cannot_end_it(self):
        made = plan(of=table(column("a`; DROP TABLE x; --")), names=("a`; DROP TABLE x; --",))
        assert "(`a``; DROP TABLE x; --`)" in made.statements.plain


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({}, "at most 100 rows (or 1 %, if that is more),"),
        ({"max_reject_percent": 100}, "without a limit,"),
        ({"max_rejects": 1000}, "at most 1,000,"),
        ({"max_rejects": 5, "max_reject_percent": 0.5}, "at most 5 or 0.5 % of the rows,"),
    ],
)
def test_leaving_rows_out_is_told_with_its_limits(options: dict, said: str):
    made = plan(10**6, options=Options(on_error="reject", **options))
    assert said in why(made, "Rows that cannot go in are left out")

"""Figures from runs: what counts, what is compared with what, and how it reads in the report."""

import json

import pytest

from bench.compare import Runs, Spread
from bench.report import write_report
from bench.results import SCHEMA, Results, read_results
from bench.ways.millrace import options_of
from importer.engine.plan.options import Options


def run(way: str, number: int, seconds: float, *, rows: int = 1000, keys: str = "before", **more) -> dict:
    raw = way.startswith(("single", "split", "after"))
    cost = dict.fromkeys(("cpu", "server_cpu", "server_written", "server_data_written", "server_log_written"), 1)
    known = {
        "server": "a",
        "workload": "indexed",
        "way": way,
        "round": number,
        "place": 0,
        "rows": rows,
        "sample": False,
    }
    return {
        **known, "raw": raw, "keys": keys, "seconds": seconds, "first_row": 0.5, "peaks": {"client": 20},
        "parts": {}, "choices": [], "server_dirty": 0, **cost, **more,
    }  # fmt: skip


def results(*runs: dict, baseline: dict[str, str] | None = None) -> Results:
    made = {
        "at": "2026-01-31T12:00:00Z",
        "commit": "c" * 40,
        "command": "-m bench",
        "seed": 1,
        "rounds": 2,
        "warm_up": 1,
    }
    machine = {"processors": 2, "model": "m", "memory_mb": 1, "kernel": "6", "python": "3", "mysqlclient": "2"}
    found = Results("checks" if baseline else "ways", {**made, "baseline": baseline or {}, "notes": []}, machine)
    found.servers["a"] = {"variables": {"version": "11", "innodb_flush_log_at_trx_commit": "1"}}
    found.workloads["indexed"] = {"title": "Strings", "rows": 1000, "bytes": 10_000}
    found.runs = list(runs)
    return found


def lines(found: Results) -> dict:
    return {line.way: line for line in Runs(found).lines("a", "indexed")}


def test_ratios_are_taken_round_by_round_and_warm_ups_do_not_count():
    found = lines(
        results(
            run("single", 0, 100), run("millrace", 0, 1),
            run("single", 1, 4), run("millrace", 1, 2),
            run("single", 2, 10), run("millrace", 2, 4),
        )
    )  # fmt: skip
    assert found["millrace"].to_single == Spread(2.25, 2.0, 2.5)
    assert found["millrace"].rounds == 2
    assert found["single"].to_single is None


def test_the_best_raw_way_is_one_that_puts_keys_on_at_the_same_time():
    found = lines(
        results(
            run("single", 1, 8), run("split-2", 1, 6), run("after-2", 1, 3, keys="after"),
            run("millrace", 1, 2, keys="after"), run("copy", 1, 12),
        )
    )  # fmt: skip
    ours = found["millrace"]
    assert (ours.best, ours.to_best, ours.to_best_before) == ("after-2", Spread.of([1.5]), Spread.of([3]))
    assert found["copy"].best == "split-2"
    assert found["copy"].to_best == Spread.of([0.5])


def test_ways_stand_in_order_raw_ones_first_and_by_their_numbers():
    ways = ["single", "split-2", "split-10", "after-2", "copy", "insert-1", "insert-40@25", "insert-1000", "millrace"]
    found = results(*(run(way, 1, 1) for way in reversed(ways)))
    assert [line.way for line in Runs(found).lines("a", "indexed")] == ways


def test_a_sample_compares_by_its_rate():
    found = lines(results(run("single", 1, 2), run("insert-1", 1, 2, rows=50, sample=True)))
    assert found["insert-1"].to_single == Spread.of([0.05])


def test_files_of_one_kind_are_joined_as_more_rounds(tmp_path):
    first = results(run("single", 0, 9), run("single", 1, 4), run("millrace", 1, 2))
    second = results(run("single", 1, 6), run("millrace", 1, 2))
    paths = [tmp_path / "a.json", tmp_path / "b.json"]
    for path, each in zip(paths, (first, second), strict=True):
        path.write_text(json.dumps(vars(each)))
    joined = lines(read_results(paths))
    assert joined["millrace"].to_single == Spread(2.5, 2.0, 3.0)
    paths[0].write_text(json.dumps({**vars(first), "kind": "checks"}))
    with pytest.raises(AssertionError, match="not of one kind"):
        read_results(paths)


def test_the_report_says_how_safe_the_end_of_a_load_is(tmp_path):
    found = results(run("millrace", 1, 2), run("millrace:checks=false", 1, 1), baseline={"way": "millrace"})
    text = write_report([found.write(tmp_path)]).read_text()
    assert found.schema == SCHEMA
    assert "safe from a crash" in text
    assert "| millrace:checks=false | before | 1 | 1.00 | 1,000 | 2.00 |" in text
    found.servers["a"]["variables"]["innodb_flush_log_at_trx_commit"] = "2"
    assert "may be lost in a crash" in write_report([found.write(tmp_path)]).read_text()


def test_how_fast_the_machine_was_is_left_out_of_the_seconds_for_each_of_the_servers():
    found = lines(
        results(
            run("single", 1, 4, server_cpu=8), run("millrace", 1, 3, server_cpu=5),
            run("single", 2, 8, server_cpu=16), run("millrace", 2, 6, server_cpu=10),
            run("copy", 1, 5, server_cpu=None),
        )
    )  # fmt: skip
    assert (found["single"].for_server_second, found["millrace"].for_server_second) == (0.5, 0.6)
    assert found["copy"].for_server_second is None


def test_rounds_in_which_the_machine_was_alike_have_a_ratio_of_their_own(tmp_path):
    runs = [
        run("single", 1, 4, handover=60), run("millrace", 1, 3, handover=70),
        run("single", 2, 4, handover=60), run("millrace", 2, 5, handover=330),
        run("single", 3, 5, handover=340), run("millrace", 3, 4, handover=330),
        run("single", 4, 4, handover=None), run("millrace", 4, 1, handover=None),
        run("single", 5, 4), run("millrace", 5, 1, handover=60),
    ]  # fmt: skip
    found = lines(results(*runs))["millrace"]
    assert found.alike == [4 / 3, 5 / 4]
    assert found.medians["handover"] == 200
    assert "| 200 | 1.29 of 2 |" in write_report([results(*runs).write(tmp_path)]).read_text()
    baseline = lines(results(*runs, baseline={"way": "millrace"}))
    assert baseline["single"].alike == [3 / 4, 4 / 5]
    assert baseline["millrace"].alike == []


def test_options_of_an_import_are_read_from_words():
    words = {
        "chunk_bytes": "512K",
        "parallelism": "3",
        "checks": "false",
        "verify": "full",
        "session.sort_buffer_size": "1",
    }
    read = options_of(words)
    wanted = Options(chunk_bytes=2**19, parallelism=3, checks=False, verify="full", session={"sort_buffer_size": "1"})
    assert read == wanted
    with pytest.raises(AssertionError, match="no option nothing"):
        options_of({"nothing": "1"})
    with pytest.raises(AssertionError, match="parallelism is 'some'"):
        options_of({"parallelism": "some"})

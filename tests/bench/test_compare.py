"""Tests the figures computed from runs, the ratios between them, and their text in the report."""

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
    made_up = Results("checks" if baseline else "ways", {**made, "baseline": baseline or {}, "notes": []}, machine)
    made_up.servers["a"] = {"variables": {"version": "11", "innodb_flush_log_at_trx_commit": "1"}}
    made_up.workloads["indexed"] = {"title": "Strings", "rows": 1000, "bytes": 10_000}
    made_up.runs = list(runs)
    return made_up


def lines(of: Results) -> dict:
    return {line.way: line for line in Runs(of).lines("a", "indexed")}


def test_ratios_are_computed_round_by_round_without_warm_ups():
    by_way = lines(
        results(
            run("single", 0, 100), run("millrace", 0, 1),
            run("single", 1, 4), run("millrace", 1, 2),
            run("single", 2, 10), run("millrace", 2, 4),
        )
    )  # fmt: skip
    assert by_way["millrace"].to_single == Spread(2.25, 2.0, 2.5)
    assert by_way["millrace"].rounds == 2
    assert by_way["single"].to_single is None


def test_the_best_raw_way_builds_its_keys_at_the_same_time():
    by_way = lines(
        results(
            run("single", 1, 8), run("split-2", 1, 6), run("after-2", 1, 3, keys="after"),
            run("millrace", 1, 2, keys="after"), run("copy", 1, 12),
        )
    )  # fmt: skip
    ours = by_way["millrace"]
    assert (ours.best, ours.to_best, ours.to_best_before) == ("after-2", Spread.of([1.5]), Spread.of([3]))
    assert by_way["copy"].best == "split-2"
    assert by_way["copy"].to_best == Spread.of([0.5])


def test_ways_are_sorted_raw_ones_first_and_by_their_numbers():
    ways = ["single", "split-2", "split-10", "after-2", "copy", "insert-1", "insert-40@25", "insert-1000", "millrace"]
    measured = results(*(run(way, 1, 1) for way in reversed(ways)))
    assert [line.way for line in Runs(measured).lines("a", "indexed")] == ways


def test_a_sample_is_compared_by_its_rate():
    by_way = lines(results(run("single", 1, 2), run("insert-1", 1, 2, rows=50, sample=True)))
    assert by_way["insert-1"].to_single == Spread.of([0.05])


def test_result_files_of_one_kind_are_joined_as_more_rounds(tmp_path):
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
    measured = results(run("millrace", 1, 2), run("millrace:verify=full", 1, 1), baseline={"way": "millrace"})
    text = write_report([measured.write(tmp_path)]).read_text()
    assert measured.schema == SCHEMA
    assert "safe from a crash" in text
    assert "| millrace:verify=full | before | 1 | 1.00 | 1,000 | 2.00 |" in text
    measured.servers["a"]["variables"]["innodb_flush_log_at_trx_commit"] = "2"
    assert "may be lost in a crash" in write_report([measured.write(tmp_path)]).read_text()


def test_seconds_per_server_second_exclude_the_speed_of_the_machine():
    by_way = lines(
        results(
            run("single", 1, 4, server_cpu=8), run("millrace", 1, 3, server_cpu=5),
            run("single", 2, 8, server_cpu=16), run("millrace", 2, 6, server_cpu=10),
            run("copy", 1, 5, server_cpu=None),
        )
    )  # fmt: skip
    assert (by_way["single"].for_server_second, by_way["millrace"].for_server_second) == (0.5, 0.6)
    assert by_way["copy"].for_server_second is None


def test_rounds_with_the_same_handover_time_have_a_ratio_of_their_own(tmp_path):
    runs = [
        run("single", 1, 4, handover=60), run("millrace", 1, 3, handover=70),
        run("single", 2, 4, handover=60), run("millrace", 2, 5, handover=330),
        run("single", 3, 5, handover=340), run("millrace", 3, 4, handover=330),
        run("single", 4, 4, handover=None), run("millrace", 4, 1, handover=None),
        run("single", 5, 4), run("millrace", 5, 1, handover=60),
    ]  # fmt: skip
    line = lines(results(*runs))["millrace"]
    assert line.alike == [4 / 3, 5 / 4]
    assert line.medians["handover"] == 200
    assert "| 200 | 1.29 of 2 |" in write_report([results(*runs).write(tmp_path)]).read_text()
    baseline = lines(results(*runs, baseline={"way": "millrace"}))
    assert baseline["single"].alike == [3 / 4, 4 / 5]
    assert baseline["millrace"].alike == []


def test_options_of_an_import_are_parsed_from_text():
    words = {
        "chunk_bytes": "512K",
        "parallelism": "3",
        "once": "true",
        "verify": "full",
        "session.sort_buffer_size": "1",
    }
    read = options_of(words)
    expected = Options(chunk_bytes=2**19, parallelism=3, once=True, verify="full", session={"sort_buffer_size": "1"})
    assert read == expected
    with pytest.raises(AssertionError, match="no option nothing"):
        options_of({"nothing": "1"})
    with pytest.raises(AssertionError, match="parallelism is 'some'"):
        options_of({"parallelism": "some"})

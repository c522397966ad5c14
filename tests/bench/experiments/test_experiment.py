"""Published experiments: verdicts on the article's claims, the chart, sizes and estimated times."""

from dataclasses import replace
from xml.etree import ElementTree

import pytest

from bench.charts import RateBar, draw
from bench.experiments.experiment import FILLED_IN_A_SECOND, Claim, Experiment
from bench.experiments.published.registry import EXPERIMENTS
from bench.experiments.raw.single_rows import POINT_SECONDS
from bench.experiments.report import markdown
from bench.experiments.verdicts import (
    AGREES,
    DISAGREES,
    NOT_COMPARABLE,
    ONE_BUSY_ROUND,
    judge_claim,
    judge_way,
)
from bench.spread import Spread
from bench.workloads import WORKLOADS
from importer.engine.errors import Problem
from tests.dashboard.lab.reports import result


def of_two_ways(own: str = "", other: str = "") -> Experiment:
    """An experiment with two ways that have these reasons not to be compared with the article."""
    ways = (("own", own), ("other", other))
    model = EXPERIMENTS["naive"].ways[0]
    return replace(
        EXPERIMENTS["naive"],
        baseline="other",
        ways=tuple(replace(model, name=name, not_comparable=why) for name, why in ways),
        claims=(),
    )


ALIKE = of_two_ways()


def rates(*ratios: float) -> dict[str, dict[int, float]]:
    """Rates of two ways, one round per ratio; the server's speed differs between rounds."""
    return {
        "own": {number: 1000 * number * ratio for number, ratio in enumerate(ratios, start=1)},
        "other": {number: 1000 * number for number in range(1, len(ratios) + 1)},
    }


@pytest.mark.parametrize(
    ("claim", "ratios", "verdict"),
    [
        ({"about": 3.0}, (2.9, 1.6, 5.9), AGREES),
        ({"about": 3.0}, (6.1, 7.0), DISAGREES),
        ({"about": 1.3}, (0.8, 0.7), DISAGREES),
        ({"about": 1.3}, (0.9, 1.0), AGREES),
        ({"about": 1.05}, (0.6, 0.7), AGREES),
        ({"about": 3.0}, (3.0, 7.0), NOT_COMPARABLE),
        ({"about": 3.0}, (), NOT_COMPARABLE),
        ({"least": 2.0}, (2.0, 9.0), AGREES),
        ({"least": 2.0}, (1.9, 1.2), DISAGREES),
        ({"most": 1.0}, (0.4, 1.0), AGREES),
        ({"most": 1.0}, (0.4, 1.1), NOT_COMPARABLE),
        ({"most": 1.0}, (0.7,), AGREES),
        ({"most": 1.0}, (0.8,), NOT_COMPARABLE),
        ({"about": 1.0}, (2.9,), DISAGREES),
        ({"about": 1.0}, (2.1,), NOT_COMPARABLE),
    ],
)
def test_a_claim_agrees_if_the_ratio_is_on_the_same_side_of_1_and_near_in_every_round(claim, ratios, verdict):
    judged = judge_claim(ALIKE, Claim("a claim", "own", "other", **claim), rates(*ratios))
    assert judged.verdict == verdict
    assert (judged.ratio and judged.ratio.most) == (max(ratios, default=None) and pytest.approx(max(ratios)))


def test_one_round_on_a_busy_machine_tells_only_what_is_far_from_the_line():
    ahead = Claim("a claim", "own", "other", least=1.0)
    verdicts = [judge_claim(ALIKE, ahead, rates(ratio), ONE_BUSY_ROUND).verdict for ratio in (0.2, 2.0, 5.0)]
    assert verdicts == [DISAGREES, NOT_COMPARABLE, AGREES]
    between = Claim("a claim", "own", "other", about=1.2)
    assert judge_claim(ALIKE, between, rates(0.6), ONE_BUSY_ROUND).verdict == NOT_COMPARABLE


@pytest.mark.parametrize(
    ("own", "other", "why"),
    [
        ("its disk", "", "its disk"),
        ("", "its network", "its network"),
        ("its disk", "its network", "its disk; its network"),
        ("its disk", "its disk", ""),
    ],
)
def test_a_figure_of_the_article_is_not_compared_if_other_conditions_change_the_ratio(own, other, why):
    about, bound = Claim("three times", "own", "other", about=3.0), Claim("ahead", "own", "other", least=1.0)
    judged = judge_claim(of_two_ways(own, other), about, rates(2.9, 3.1))
    assert (judged.verdict, judged.why) == (NOT_COMPARABLE if why else AGREES, why)
    assert (judged.ratio.median, judged.published) == (pytest.approx(3.0), "3")
    assert judge_claim(of_two_ways(own, other), bound, rates(2.9, 3.1)).verdict == AGREES


def test_a_claim_about_one_way_is_compared_with_its_rate():
    assert judge_claim(ALIKE, Claim("at most 100", "own", most=100), {"own": {1: 99.0, 2: 82.0}}).verdict == AGREES


def test_a_way_is_compared_with_the_baseline_unless_the_conditions_were_different():
    naive = EXPERIMENTS["naive"]
    measured = {each.name: {1: 10.0} for each in naive.ways} | {"LOAD DATA": {1: 60.0}}
    assert judge_way(naive, naive.way("LOAD DATA"), measured).verdict == AGREES
    assert judge_way(naive, naive.way("LOAD DATA into MyISAM"), measured).verdict == DISAGREES
    eight = judge_way(naive, naive.way("LOAD DATA, 8 sessions"), measured)
    assert (eight.verdict, "doublewrite" in eight.why) == (NOT_COMPARABLE, True)
    assert judge_way(naive, naive.way(naive.baseline), measured).verdict == ""


def test_a_raw_way_may_be_compared_with_a_raw_way():
    methods = EXPERIMENTS["methods"]
    ways = {"LOAD DATA": 100.0, "LOAD DATA, no import": 200.0, "INSERT ... SELECT": 180.0}
    measured = {name: {1: rate, 2: rate * 2} for name, rate in ways.items()}
    copied = judge_way(methods, methods.way("INSERT ... SELECT"), measured)
    assert (copied.ratio.median, copied.verdict) == (0.9, AGREES)
    assert judge_way(methods, methods.way("LOAD DATA, no import"), measured).ratio.median == 2


def test_a_way_that_failed_in_some_rounds_only_is_not_among_those_that_were_not_measured():
    failed = {"16 partitions, 8 sessions": "A deadlock."}
    *_, not_measured, in_some, notes = markdown(result(eight=1_500.0, failed=failed), "").split("\n## ")
    assert not_measured.splitlines()[0] == "Not measured"
    assert not_measured.count("\n- ") == 1
    why = "The server has no variable 'innodb_buffer_pool_instances'."
    assert f"\n- own server, 8 partitions, 8 sessions, 8 pool instances: {why}" in not_measured
    assert in_some == "Failed in some rounds\n\n- 16 partitions, 8 sessions: A deadlock.\n"
    assert notes.startswith("Notes")


@pytest.mark.parametrize(
    ("rounds", "named"),
    [((2_000.0,), True), ((1_100.0,), False), ((1_100.0, 1_200.0), True), ((3_000.0, 900.0), False)],
)
def test_the_fastest_is_named_among_ways_that_do_the_same_if_the_rounds_tell(rounds, named):
    usual = dict.fromkeys(range(1, len(rounds) + 1), 1_000.0)
    found = {"1 partition, 1 session": usual, "8 partitions, 8 sessions": dict(enumerate(rounds, start=1))}
    found["read by the primary key, 1 partition"] = dict.fromkeys(usual, 53129.0)
    told = replace(result(eight=1_500.0), rates=found).as_json()
    assert [each["way"] for each in told["ways"] if each["fastest"]] == ["8 partitions, 8 sessions"] * named


def test_the_chart_has_a_bar_for_each_way_and_a_mark_for_each_figure_of_the_article():
    slow, fast = Spread(60.0, 50.0, 70.0), Spread(300_000.0, 2e5, 4e5)
    drawn = ElementTree.fromstring(
        draw("A & B", [RateBar("<one> row", slow, 40_000), RateBar("LOAD DATA", fast, None)])
    )
    texts = [each.text for each in drawn.iterfind(".//{*}text")]
    assert {"A & B", "<one> row", "LOAD DATA", "60", "300,000", "1,000,000"} <= set(texts)
    assert len(list(drawn.iterfind(".//{*}polygon"))) == 2  # One of them is in the legend.
    assert all(0 <= float(each.attrib["x"]) <= float(drawn.attrib["width"]) for each in drawn.iterfind(".//{*}text"))


@pytest.mark.parametrize("ways", [EXPERIMENTS[name].ways for name in EXPERIMENTS], ids=list(EXPERIMENTS))
def test_no_name_begins_left_of_the_chart(ways):
    rate = Spread(60.0, 50.0, 70.0)
    drawn = ElementTree.fromstring(draw("", [RateBar(way.name, rate, None) for way in ways]))
    names = [each for each in drawn.iterfind(".//{*}text") if each.attrib.get("text-anchor") == "end"]
    # A character of 12 pixels is about 6.6 pixels wide.
    assert all(float(each.attrib["x"]) - 6.6 * len(each.text or "") > 0 for each in names)


def test_a_chart_of_many_powers_of_ten_labels_every_second_one():
    drawn = ElementTree.fromstring(
        draw("", [RateBar("few", Spread(0.02, 0.02, 0.02), None), RateBar("many", Spread(2e6, 2e6, 2e6), None)])
    )
    numbers = [each.text for each in drawn.iterfind(".//{*}text") if each.attrib.get("text-anchor") == "middle"]
    assert numbers == ["0.1", "10", "1,000", "100,000", "10,000,000"]


@pytest.mark.parametrize("experiment", EXPERIMENTS.values(), ids=EXPERIMENTS)
def test_a_size_is_small_full_or_a_number_of_rows(experiment):
    assert experiment.rows("small") < experiment.rows("full") == experiment.workload.full_rows
    assert experiment.rows("1234") == 1234
    assert 30 < experiment.seconds(experiment.rows("small"), 4) < 600
    assert experiment.workload.name in WORKLOADS
    for wrong in ("large", "0", "-1", ""):
        with pytest.raises(Problem, match="Give small, full"):
            experiment.rows(wrong)


@pytest.mark.parametrize("experiment", EXPERIMENTS.values(), ids=EXPERIMENTS)
def test_a_chosen_way_brings_the_ways_that_its_report_needs(experiment):
    for way in experiment.ways:
        chosen = experiment.only(experiment.chosen([way.name]))
        assert {way.name, experiment.baseline} <= {each.name for each in chosen.ways}
    assert experiment.chosen([]) == ()


def test_a_chosen_way_brings_what_the_way_that_it_is_compared_with_is_compared_with():
    sessions = [f"own server, no doublewrite, {count}" for count in ("1 session", "4 sessions")]
    assert EXPERIMENTS["naive"].chosen(sessions[1:]) == ("single INSERTs", "own server, defaults", *sessions)


def test_single_rows_take_no_longer_in_a_large_table_except_for_filling_it():
    way = EXPERIMENTS["records"].way("single INSERTs, indexed")
    filled = way.rows(50_000_000) / FILLED_IN_A_SECOND
    assert way.seconds(50_000_000) == pytest.approx(filled + POINT_SECONDS, abs=2)


def test_no_foreign_key_is_added_to_more_rows_than_a_server_has_memory_for():
    for name in ("table copy, then index and foreign key", "the foreign key alone"):
        way = EXPERIMENTS["records"].way(name)
        linked = [count for table, count in way.files(50_000_000) if table.name == "sitting_table"]
        assert set(linked) == {1_000_000}


def test_files_have_the_rows_that_the_ways_need_not_all_rows_of_the_workload():
    """Rows with a blob, most of the workload's bytes, are loaded by one way, with few rows."""
    records = EXPERIMENTS["records"]
    files = {(table.name, rows) for way in records.ways for table, rows in way.files(1_000_000)}
    assert files == {
        ("event", 2_000),
        ("event", 50_000),
        ("event", 100_000),
        ("sitting_table", 300_000),
        ("registrant", 50_000),
    }
    full = records.file_bytes(records.full_rows, records.ways)
    assert 0.3e9 < full < 0.05 * records.full_rows * records.workload.row_bytes

"""Every claim of the five articles has its row and its conditions; what was measured can be judged again."""

from dataclasses import replace
from pathlib import Path

import pytest

from bench.experiments import needs
from bench.experiments.claims import SERVERS, page, read_records, records, report
from bench.experiments.experiment import Claim
from bench.experiments.needs import Place
from bench.experiments.published.registry import EXPERIMENTS
from bench.experiments.report import markdown, read_record, record
from bench.experiments.verdicts import AGREES, NOT_COMPARABLE, judge_claim
from bench.relay import Link
from importer.engine.units import GIB
from tests.bench.experiments.test_experiment import ALIKE, rates
from tests.dashboard.lab.reports import result

FOLDER = Path("docs/experiments")
# How many claims each article has, in the order of the experiments.
CLAIMS = {"methods": 6, "bulks": 6, "naive": 9, "partitions": 4, "records": 10}
HERE = Place(2, 24 * GIB, "MySQL", (9, 7, 4), round_trip=0.0002, rate=50e6)


@pytest.mark.parametrize(("letter", "name"), list(zip("abcde", CLAIMS, strict=True)))
def test_every_claim_of_an_article_has_its_row(letter, name):
    numbers = [f"{letter}{number}" for number in range(1, CLAIMS[name] + 1)]
    declared = {each.number for each in EXPERIMENTS[name].claims if each.number}
    assert declared == set(numbers)
    rows = [line for line in (FOLDER / "claims.md").read_text().splitlines() if line.startswith("| ")]
    assert all(any(row.startswith(f"| {number} |") for row in rows) for number in numbers)


@pytest.mark.parametrize("title", SERVERS.values())
def test_the_page_of_claims_counts_those_with_a_verdict_and_names_the_others(title):
    lines = (FOLDER / "claims.md").read_text().splitlines()
    head = next(line for line in lines if line.startswith("| claim |")).split(" | ")
    rows = [line.split(" | ") for line in lines if line.startswith("| ") and " --- " not in line]
    column = next(number for number, cell in enumerate(head) if title in cell.split())
    judged = [row[0].strip("| ") for row in rows if row[column].startswith(("agrees", "disagrees"))]
    told = set(judged) - {""}
    declared = [claim for each in EXPERIMENTS.values() for claim in each.claims]
    found = f"- {title}: {len(told)} of {sum(CLAIMS.values())} claims have a verdict"
    counted = next(line for line in lines if line.startswith(found))
    assert counted.endswith(f" and {len(judged)} of {len(declared)} rows")
    others = {line.split()[1] for line in lines if f" on {title}: " in line}
    assert others == {claim.number for claim in declared if claim.number} - told


def test_the_pages_say_what_the_records_and_the_claims_of_today_give():
    found = records(FOLDER)
    assert len(found) == 2 * len(EXPERIMENTS) * len(SERVERS)
    assert (FOLDER / "claims.md").read_text() == page(read_records(FOLDER))
    for path, each in found.items():
        told = report(each, f"{path.stem}.svg")
        assert path.with_suffix(".md").read_text() == told, f"python -m bench.experiments --judge: {path}"


@pytest.mark.parametrize(
    ("here", "full", "cell"),
    [
        ((2.5, 2.6), (2.6,), "agrees: 2.55 (2.5 to 2.6) here"),
        ((1.5, 2.6), (4.0,), "agrees: 4 here, at least 2 there (at 10,000,000 rows)"),
        ((1.5, 2.6), (2.1,), "not comparable: 2.05 (1.5 to 2.6) here, at least 2 there (the rounds do not give"),
        ((2.5, 2.6), (1.0,), "not comparable: 2.55 (2.5 to 2.6) here, at least 2 there (at another size it disagrees)"),
    ],
)
def test_full_size_has_a_say_where_it_tells(here, full, cell):
    measured = [result(eight=1_000.0), result(eight=1_000.0)]
    measured[1] = replace(measured[1], conditions=replace(measured[1].conditions, rows=10_000_000))
    for each, ratios in zip(measured, (here, full), strict=True):
        each.rates["8 partitions, 8 sessions"] = {number: 1_000 * ratio for number, ratio in enumerate(ratios, 1)}
    text = page({("partitions", "mysql"): measured})
    row = next(line for line in text.splitlines() if line.startswith("| d1 | 8 partitions more"))
    assert row.split(" | ")[-1].startswith(cell)


def test_a_record_holds_all_that_a_verdict_needs():
    measured = result(eight=1_500.0, failed={"16 partitions, 8 sessions": "A deadlock."})
    measured = replace(measured, links={"1 partition, 1 session": Link(0.0002, 80e6)})
    assert read_record(record(measured)) == measured
    told = "1 partition, 1 session: measured before it: 0.2 ms there and back, 0.64 Gbit/s"
    assert f"- {told}" in markdown(measured, "")


@pytest.mark.parametrize(
    ("need", "place"),
    [
        (needs.cores(8), replace(HERE, cores=8)),
        (needs.pool(8), replace(HERE, memory=32 * GIB)),
        (needs.INDEX_LOCK, replace(HERE, release=(5, 5, 8))),
        (needs.INDEX_LOCK, None),
        (needs.GIGABIT, replace(HERE, round_trip=0.0001)),
        (needs.GIGABIT_RATE, replace(HERE, rate=100e6)),
        (needs.rows(1000, "a large index"), replace(HERE, rows=1000)),
    ],
)
def test_a_claim_has_no_verdict_without_its_conditions(need, place):
    claim = Claim("ahead", "own", "other", least=1.0, needs=(need,))
    judged = judge_claim(ALIKE, claim, rates(2.0, 2.0), place=HERE)
    assert (judged.verdict, judged.why) == (NOT_COMPARABLE, f"it needs {need.words}")
    assert judge_claim(ALIKE, claim, rates(2.0, 2.0), place=place).verdict == AGREES


def test_what_several_sessions_do_is_judged_only_on_more_cores_than_one():
    several = [
        (experiment, claim)
        for experiment in EXPERIMENTS.values()
        for claim in experiment.claims
        if any(way.endswith("sessions") for way in claim.ways)
    ]
    assert len(several) > 5
    place = Place(1, 512 * GIB, "MySQL", (5, 5, 8), rows=10**9)
    for experiment, claim in several:
        measured = {way: {1: 10.0, 2: 10.0} for way in claim.ways}
        assert judge_claim(experiment, claim, measured, place=place).verdict == NOT_COMPARABLE, claim.says


def test_a_claim_that_no_way_measures_says_why_and_stays_out_of_reports():
    claim = Claim("it spins", unmeasured="nothing counts it")
    assert judge_claim(ALIKE, claim, {}).why == "nothing counts it"
    assert replace(ALIKE, claims=(claim,)).only({"own", "other"}).claims == ()

"""Judges the recorded measurements again, by the claims and rules of today, and writes all pages of docs/experiments.

Each record (NAME-SERVER.json) gets its report anew. claims.md has every claim of every article, in the order of their
numbers: what it compares, what it needs, and the verdict on each server.
"""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from bench.experiments.experiment import Claim, Experiment
from bench.experiments.published.registry import EXPERIMENTS
from bench.experiments.report import ExperimentResult, in_words, markdown, read_record, table
from bench.experiments.verdicts import AGREES, DISAGREES

SERVERS = {"mariadb": "MariaDB", "mysql": "MySQL"}
INTRODUCTION = """\
# Every claim of the five articles

Made by `python -m bench.experiments --judge` from the records beside this page. A verdict needs the conditions of the
claim; where one does not hold, the table says which. How a ratio is judged is at the end of each report.
"""

Results = Mapping[tuple[str, str], ExperimentResult]


def write_pages(folder: Path) -> None:
    """Write the report of each record in the folder, and claims.md."""
    results = read_records(folder)
    for (name, server), result in results.items():
        measured = result.experiment.only({*result.rates, *result.failed, result.experiment.baseline})
        report = markdown(replace(result, experiment=measured), f"{name}-{server}.svg")
        (folder / f"{name}-{server}.md").write_text(report)
    (folder / "claims.md").write_text(page(results))


def read_records(folder: Path) -> Results:
    """The recorded results, by experiment and server."""
    paths = {(name, server): folder / f"{name}-{server}.json" for name in EXPERIMENTS for server in SERVERS}
    return {key: read_record(path.read_text()) for key, path in paths.items() if path.exists()}


def page(results: Results) -> str:
    """The page of all claims."""
    counts = " and ".join(f"{_judged(results, server)} on {title}" for server, title in SERVERS.items())
    parts = [INTRODUCTION, f"Of the {len(_numbers())} numbered claims, {counts} have a verdict.\n"]
    for name, experiment in EXPERIMENTS.items():
        rows = [_row(experiment, claim, results) for claim in sorted(experiment.claims, key=_place)]
        head = ("claim", "the article says", "compared", "needs", *SERVERS.values())
        parts.append(f"## {experiment.article} (`{name}`)\n\nIts conditions: {experiment.conditions}.\n")
        parts.append(table(head, rows) + "\n")
    return "\n".join(parts)


def _numbers() -> set[str]:
    return {claim.number for each in EXPERIMENTS.values() for claim in each.claims if claim.number}


def _judged(results: Results, server: str) -> int:
    """How many numbered claims have a verdict on the server."""
    measured = [result for (_, on), result in results.items() if on == server]
    claims = [(result, claim) for result in measured for claim in result.experiment.claims if claim.number]
    return len({claim.number for result, claim in claims if result.verdict(claim).verdict in (AGREES, DISAGREES)})


def _place(claim: Claim) -> tuple[bool, int]:
    """Its place on the page: numbered claims in order, then the figures of the article without a number."""
    return (not claim.number, int(claim.number[1:] or 0) if claim.number else 0)


def _row(experiment: Experiment, claim: Claim, results: Results) -> tuple[str, ...]:
    compared = " / ".join(claim.ways) or "nothing"
    needs = "; ".join(each.words for each in claim.needs)
    verdicts = (_verdict(results.get((experiment.name, server)), claim) for server in SERVERS)
    return (claim.number, claim.says, compared, needs, *verdicts)


def _verdict(result: ExperimentResult | None, claim: Claim) -> str:
    if result is None:
        return "not measured"
    verdict = result.verdict(claim)
    ratio = in_words(verdict.ratio)
    figures = f": {ratio} here, {verdict.published} there" if ratio and verdict.published else ""
    return f"{verdict.verdict}{figures}" + f" ({verdict.why})" * bool(verdict.why)

"""Reports an experiment's result next to the article's figures: as values for JSON, and as Markdown."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from bench.charts import RateBar, draw
from bench.experiments.experiment import Claim, Experiment, ImportAction, RawAction, Way
from bench.experiments.needs import Place
from bench.experiments.published.registry import experiment_named
from bench.experiments.verdicts import (
    AGREES,
    DISAGREES,
    ONE_ROUND,
    RULE,
    ClaimVerdict,
    Rates,
    judge_claim,
    judge_way,
)
from bench.relay import Link
from bench.spread import Spread
from dashboard.lab.experiments import FAILURES
from importer.engine.stored import to_json

PRIVATE = (
    "These ways ran on a server of their own on this machine, with an empty database and these variables. They are"
    " compared with each other, not with the target. Their time ends when the rows are safe from a crash: with a COMMIT"
    " under innodb_flush_log_at_trx_commit=1, or with FLUSH TABLES for a table without transactions."
)

LINKS = (
    "The networks of these ways are a relay on this machine. Before each trial its delay and rate were measured: the"
    " round trip of a byte, and a bulk of 16 MiB one way."
)


@dataclass(frozen=True)
class Conditions:
    """Where, when and how the experiment was measured, in words. `commits`: whether they survive a crash."""

    server: str
    commits: str
    distance: str
    machine: str
    busy: str
    date: str
    rows: int
    repeats: int
    warm_up: bool
    seed: int
    command: str


@dataclass(frozen=True)
class ExperimentResult:
    """An experiment's rates by way and round, the warm-up left out, and the problems of the ways that failed at least
    once.

    `servers`: by way, the private server that it ran on ("server") and its variables. `place`: where it was measured.
    `off`: by how much a ratio of one round may be off. `links`: by way, the link that was simulated, as measured.
    """

    experiment: Experiment
    conditions: Conditions
    rates: Rates
    failed: Mapping[str, str]
    servers: Mapping[str, Mapping[str, str]]
    place: Place
    off: float = ONE_ROUND
    links: Mapping[str, Link] = field(default_factory=dict)

    def spread(self, way: Way) -> Spread | None:
        """The spread of the way's rates; None if there are none."""
        return Spread.of(list(self.rates.get(way.name, {}).values()))

    def verdict(self, claim: Claim) -> ClaimVerdict:
        """The verdict on a claim of the article."""
        place = replace(self.place, rows=self.conditions.rows)
        return judge_claim(self.experiment, claim, self.rates, self.off, place)

    def as_json(self) -> dict[str, Any]:
        """What `experiment run --json` prints (a contract). Rates are rows, or statements, per second."""
        fastest = self.fastest()
        return {
            "experiment": self.experiment.name,
            "article": self.experiment.article,
            "by": self.experiment.by,
            "url": self.experiment.url,
            **asdict(self.conditions),
            "baseline": self.experiment.baseline,
            "ways": [self._way(each, fastest) for each in self.experiment.ways],
            "claims": [
                {"says": each.says, "unit": each.unit, **self.verdict(each).as_json()}
                for each in self.experiment.claims
            ],
            "rule": RULE,
        }

    def fastest(self) -> set[str]:
        """The fastest way of each set of comparable ones, where the rounds tell it from the next."""
        among: dict[str, list[tuple[float, str]]] = {}
        for way in self.experiment.ways:
            if spread := self.spread(way):
                among.setdefault(way.among, []).append((spread.median, way.name))
        leads = (sorted(rates, reverse=True)[:2] for rates in among.values() if len(rates) > 1)
        claims = [Claim(f"{first} is ahead", first, second, least=1.0) for (_, first), (_, second) in leads]
        return {each.of for each in claims if self.verdict(each).verdict == AGREES}

    def _way(self, way: Way, fastest: set[str]) -> dict[str, Any]:
        spread = self.spread(way)
        return {
            "way": way.name,
            "how": _how(way) + (f"; {_measured(link)}" if (link := self.links.get(way.name)) else ""),
            "compared_with": self.experiment.base(way).name,
            "among": way.among,
            "fastest": way.name in fastest,
            "rows": way.rows(self.conditions.rows),
            "rates": list(self.rates.get(way.name, {}).values()),
            "rate": asdict(spread) if spread else None,
            "published_rate": way.published,
            **judge_way(self.experiment, way, self.rates, self.off).as_json(),
            "failed": self.failed.get(way.name),
        }


def write_report(result: ExperimentResult, folder: Path) -> Path:
    """Write report and chart into the folder, named EXPERIMENT-FLAVOUR; return the report's path. Raises OSError."""
    folder.mkdir(parents=True, exist_ok=True)
    name = f"{result.experiment.name}-{result.conditions.server.split()[0].lower()}"
    report, drawing = folder / f"{name}.md", folder / f"{name}.svg"
    (folder / f"{name}.json").write_text(record(result))
    drawing.write_text(chart(result))
    report.write_text(markdown(result, drawing.name))
    return report


def record(result: ExperimentResult) -> str:
    """What was measured, as JSON: claims can be judged again from it. read_record() reads it."""
    values = {each.name: getattr(result, each.name) for each in fields(result) if each.name != "experiment"}
    values |= {"conditions": asdict(result.conditions), "place": asdict(result.place)}
    values |= {"links": {way: asdict(link) for way, link in result.links.items()}}
    return json.dumps({"experiment": result.experiment.name, **values}, indent=1) + "\n"


def read_record(text: str) -> ExperimentResult:
    """The result of a record, with the ways and claims that the experiment has now. Raises Problem, ValueError."""
    values = json.loads(text)
    rates = {way: {int(number): rate for number, rate in rounds.items()} for way, rounds in values["rates"].items()}
    return ExperimentResult(
        experiment_named(values["experiment"]),
        Conditions(**values["conditions"]),
        rates,
        values["failed"],
        values["servers"],
        Place.from_json(values["place"]),
        values["off"],
        {way: Link(**link) for way, link in values.get("links", {}).items()},
    )


def chart(result: ExperimentResult) -> str:
    """The chart of the rates as SVG; "" if there are no rates."""
    bars = [
        RateBar(way.name, spread, way.published) for way in result.experiment.ways if (spread := result.spread(way))
    ]
    title = f"{result.experiment.article}: {result.conditions.server}"
    return draw(title, bars) if bars else ""


def markdown(result: ExperimentResult, chart_name: str) -> str:
    """The report. `chart_name` is the chart's file name in the report's folder, "" for a report without a chart."""
    conditions, experiment = result.conditions, result.experiment
    after = " after one to warm up" if conditions.warm_up else ""
    parts = [
        f"# {experiment.article}, repeated on {conditions.server}",
        f"The [article]({experiment.url}) ({experiment.by}) asks {experiment.asks}. Its conditions:"
        f" {experiment.conditions}.",
        f"Measured on {conditions.date} with {conditions.rows:,} rows, {_times(conditions.repeats)} of every"
        f" way{after}, in an order shuffled from seed {conditions.seed}. The server is {conditions.distance};"
        f" this machine has {conditions.machine}. {conditions.busy} {conditions.commits}"
        " Ratios are computed within rounds, so they are"
        " more reliable than rates.",
        f"To repeat it: `{conditions.command}`",
        *([f"![Rates of all ways, and the article's]({chart_name})"] if chart_name else []),
        _ways(result),
        "A way that is an *import* runs in processes that the command has started before. Its time runs from the"
        " import's start, the scan of the file included, to the last commit and the last restored key; where a staging"
        " table replaces the table, to the end. *Raw* ways are plain statements without checks.",
        "## What the article says",
        _claims(result),
        RULE,
        "## Summary",
        _summary(result),
        *_failures(result),
        *(["## Private servers", PRIVATE, _servers(result)] if result.servers else []),
        *(["## Links", LINKS, _links(result)] if result.links else []),
        "## Notes",
        _list(experiment.notes),
    ]
    return "\n\n".join(parts) + "\n"


def _ways(result: ExperimentResult) -> str:
    head = ("way", "done by", "rows", "a second (least to most)", "article", "ratio", "article's", "agreement")
    rows = []
    for way in result.experiment.ways:
        verdict = judge_way(result.experiment, way, result.rates, result.off)
        rows.append(
            (
                way.name,
                _done_by(way),
                f"{way.rows(result.conditions.rows):,}",
                _rate(result.spread(way)),
                number(way.published) if way.published else "",
                in_words(verdict.ratio),
                verdict.published,
                _verdict(verdict),
            )
        )
    return table(head, rows)


def _claims(result: ExperimentResult) -> str:
    rows = []
    for each in result.experiment.claims:
        verdict = result.verdict(each)
        rows.append((each.says, in_words(verdict.ratio), verdict.published, _verdict(verdict)))
    return table(("claim", "here", "article", "agreement"), rows)


def _servers(result: ExperimentResult) -> str:
    return _list(
        f"{name}: {ran['server']}, "
        + ", ".join(f"{variable}={value}" for variable, value in ran.items() if variable != "server")
        for name, ran in sorted(result.servers.items())
    )


def _summary(result: ExperimentResult) -> str:
    experiment = result.experiment
    verdicts = {way.name: judge_way(experiment, way, result.rates, result.off).verdict for way in experiment.ways}
    verdicts |= {claim.says: result.verdict(claim).verdict for claim in experiment.claims}
    lines = []
    for verdict in (AGREES, DISAGREES):
        names = [name for name, each in verdicts.items() if each == verdict]
        lines.append(f"{verdict}: {'; '.join(names) or 'nothing'}")
    others = sum(each not in (AGREES, DISAGREES, "") for each in verdicts.values())
    return _list((*lines, f"not comparable: {others} of {len(verdicts)}, with the reason in the tables"))


def _failures(result: ExperimentResult) -> Iterable[str]:
    """The problems of the ways that were not measured, and of those that failed and were measured in other rounds."""
    measured = {name: bool(result.rates.get(name)) for name in result.failed}
    for title, has_rates in FAILURES.items():
        if failed := [f"{name}: {why}" for name, why in result.failed.items() if measured[name] == has_rates]:
            yield from (f"## {title}", _list(failed))


def _done_by(way: Way) -> str:
    if isinstance(way.action, ImportAction):
        return "import"
    return "raw, private server" if way.server else "raw"


def _how(way: Way) -> str:
    match way.action:
        case ImportAction(options):
            given = {name: value for name, value in to_json(options).items() if value != getattr(type(options)(), name)}
            return "import: " + ", ".join(f"{name}={value}" for name, value in given.items())
        case RawAction():
            return f"raw, {way.action.words}" if way.action.words else "raw"


def _verdict(verdict: ClaimVerdict) -> str:
    return f"{verdict.verdict} ({verdict.why})" if verdict.why and verdict.verdict else verdict.verdict or verdict.why


def _measured(link: Link) -> str:
    return f"measured before it: {link.round_trip * 1000:.2g} ms there and back, {link.rate * 8 / 1e9:.2g} Gbit/s"


def _links(result: ExperimentResult) -> str:
    return _list(f"{way}: {_measured(link)}" for way, link in result.links.items())


def _rate(spread: Spread | None) -> str:
    return _spread(spread, number) if spread else "not measured"


def in_words(spread: Spread | None) -> str:
    """A ratio, with the least and the most of several rounds; "" if there is none."""
    return _spread(spread, lambda ratio: f"{ratio:,.0f}" if ratio >= 100 else f"{ratio:.3g}") if spread else ""


def _spread(spread: Spread, formatted: Callable[[float], str]) -> str:
    middle, least, most = (formatted(each) for each in (spread.median, spread.least, spread.most))
    return middle if least == most else f"{middle} ({least} to {most})"


def number(value: float) -> str:
    """A rate per second: whole from 10 on, below with three significant digits."""
    return f"{value:,.0f}" if value >= 10 else f"{value:.3g}"


def _times(count: int) -> str:
    return "one round" if count == 1 else f"{count} rounds"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table in Markdown."""
    return "\n".join("| " + " | ".join(row) + " |" for row in (head, ["---"] * len(head), *rows))


def _list(lines: Iterable[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)

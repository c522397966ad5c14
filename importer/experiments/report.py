"""What an experiment has found, beside the article: as values for JSON, and as Markdown."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from importer.engine.stored import to_json
from importer.experiments.chart import RateBar, draw
from importer.experiments.experiment import Experiment, ImportAction, RawAction, Way
from importer.experiments.verdicts import (
    AGREES,
    DISAGREES,
    RULE,
    ClaimVerdict,
    Rates,
    RateSpread,
    judge_claim,
    judge_way,
)


@dataclass(frozen=True)
class Conditions:
    """Where and how it was measured: the server in words, its distance, the machine, how busy it was, and when."""

    server: str
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
    """All of it: rates by way and round, warm-up left out, and why ways have none."""

    experiment: Experiment
    circumstances: Conditions
    rates: Rates
    failed: Mapping[str, str]

    def spread(self, way: Way) -> RateSpread | None:
        """Of the way's rates."""
        return RateSpread.of(list(self.rates.get(way.name, {}).values()))

    def as_json(self) -> dict[str, Any]:
        """What `lab experiment --json` prints: a contract. Rates are rows, or statements, per second."""
        return {
            "experiment": self.experiment.name,
            "article": self.experiment.article,
            **asdict(self.circumstances),
            "baseline": self.experiment.baseline,
            "ways": [self._way(each) for each in self.experiment.ways],
            "claims": [
                {"says": each.says, **judge_claim(each, self.rates).as_json()} for each in self.experiment.claims
            ],
            "rule": RULE,
        }

    def _way(self, way: Way) -> dict[str, Any]:
        spread = self.spread(way)
        return {
            "way": way.name,
            "how": _how(way),
            "beside": way.compared_with or self.experiment.baseline,
            "rows": way.rows(self.circumstances.rows),
            "rates": list(self.rates.get(way.name, {}).values()),
            "rate": asdict(spread) if spread else None,
            "published_rate": way.published,
            **judge_way(self.experiment, way, self.rates).as_json(),
            "failed": self.failed.get(way.name),
        }


def write_report(found: ExperimentResult, folder: Path) -> Path:
    """Write report and chart into the folder, called by experiment and flavour; the report's path. Raises OSError."""
    folder.mkdir(parents=True, exist_ok=True)
    name = f"{found.experiment.name}-{found.circumstances.server.split()[0].lower()}"
    report, drawing = folder / f"{name}.md", folder / f"{name}.svg"
    drawing.write_text(chart(found))
    report.write_text(markdown(found, drawing.name))
    return report


def chart(found: ExperimentResult) -> str:
    """The rates as SVG; "" if there is none."""
    bars = [RateBar(way.name, spread, way.published) for way in found.experiment.ways if (spread := found.spread(way))]
    title = f"{found.experiment.article}: {found.circumstances.server}"
    return draw(title, bars) if bars else ""


def markdown(found: ExperimentResult, chart_name: str) -> str:
    """The report, with the chart in a file of that name beside it, "" for none."""
    told, of = found.circumstances, found.experiment
    after = " after one to warm up" if told.warm_up else ""
    parts = [
        f"# {of.article}, repeated on {told.server}",
        f"It asks {of.asks}. The article: {of.conditions}.",
        f"Measured on {told.date} with {told.rows:,} rows, {_times(told.repeats)} of every way{after}, in an order"
        f" shuffled from seed {told.seed}. The server is {told.distance}; this machine has {told.machine}."
        f" {told.busy} Ratios are made within rounds, so they stand more firmly than rates.",
        f"To repeat it: `{told.command}`",
        *([f"![Rates of all ways, and the article's]({chart_name})"] if chart_name else []),
        _ways(found),
        "A way that is an *import* of ours runs in processes of the command's own, which are up before; its time is"
        " from its start, the scan of the file included, to its last commit and the last key put back; where a table"
        " takes another one's place, to the end. *Raw* ways are plain statements, with no check.",
        "## What the article says",
        _claims(found),
        RULE,
        "## In short",
        _short(found),
        *(["## Not measured", _list(f"{name}: {why}" for name, why in found.failed.items())] if found.failed else []),
        "## Besides",
        _list(of.notes),
    ]
    return "\n\n".join(parts) + "\n"


def _ways(found: ExperimentResult) -> str:
    head = ("way", "done by", "rows", "a second (least to most)", "article", "ratio", "article's", "agreement")
    rows = []
    for way in found.experiment.ways:
        judged = judge_way(found.experiment, way, found.rates)
        rows.append(
            (
                way.name,
                "import" if isinstance(way.action, ImportAction) else "raw",
                f"{way.rows(found.circumstances.rows):,}",
                _rate(found.spread(way)),
                number(way.published) if way.published else "",
                _ratio(judged.ratio),
                judged.published,
                _verdict(judged),
            )
        )
    return _table(head, rows)


def _claims(found: ExperimentResult) -> str:
    rows = []
    for each in found.experiment.claims:
        judged = judge_claim(each, found.rates)
        rows.append((each.says, _ratio(judged.ratio), judged.published, _verdict(judged)))
    return _table(("it says", "here", "article", "agreement"), rows)


def _short(found: ExperimentResult) -> str:
    of = found.experiment
    judged = {way.name: judge_way(of, way, found.rates).verdict for way in of.ways}
    judged |= {claim.says: judge_claim(claim, found.rates).verdict for claim in of.claims}
    lines = []
    for verdict in (AGREES, DISAGREES):
        names = [name for name, each in judged.items() if each == verdict]
        lines.append(f"{verdict}: {'; '.join(names) or 'nothing'}")
    others = sum(each not in (AGREES, DISAGREES, "") for each in judged.values())
    return _list((*lines, f"not comparable: {others} of {len(judged)}, with the reason in the tables"))


def _how(way: Way) -> str:
    match way.action:
        case ImportAction(options):
            given = {name: value for name, value in to_json(options).items() if value != getattr(type(options)(), name)}
            return "import: " + ", ".join(f"{name}={value}" for name, value in given.items())
        case RawAction(_, delay):
            return f"raw, {delay * 1000:g} ms away" if delay else "raw"


def _verdict(judged: ClaimVerdict) -> str:
    return f"{judged.verdict} ({judged.why})" if judged.why and judged.verdict else judged.verdict or judged.why


def _rate(spread: RateSpread | None) -> str:
    return _spread(spread, number) if spread else "not measured"


def _ratio(spread: RateSpread | None) -> str:
    return _spread(spread, lambda ratio: f"{ratio:,.0f}" if ratio >= 100 else f"{ratio:.3g}") if spread else ""


def _spread(spread: RateSpread, written: Callable[[float], str]) -> str:
    middle, least, most = (written(each) for each in (spread.median, spread.least, spread.most))
    return middle if least == most else f"{middle} ({least} to {most})"


def number(value: float) -> str:
    """A rate per second in full, or of a few with its fractions."""
    return f"{value:,.0f}" if value >= 10 else f"{value:.3g}"


def _times(count: int) -> str:
    return "one round" if count == 1 else f"{count} rounds"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    return "\n".join("| " + " | ".join(row) + " |" for row in (head, ["---"] * len(head), *rows))


def _list(lines: Iterable[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)

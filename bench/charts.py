"""Draws one chart for each workload: the rate of every way, with a bar for each server."""

from collections.abc import Sequence
from pathlib import Path

from bench.compare import Line, Runs

try:
    from matplotlib.figure import Figure
except ModuleNotFoundError:
    Figure = None

COLOURS = ("#1d4ed8", "#d97706", "#15803d", "#9333ea")
BAR = 0.8  # of the height for one way, shared by the servers
INCHES_PER_BAR = 0.22


def can_draw() -> bool:
    """Whether matplotlib is installed; `make bench` installs it."""
    return Figure is not None


def draw(runs: Runs, workloads: Sequence[str], path: Path, title: str) -> None:
    """Write a PNG with bars of median rows per second, each with a line from the slowest to the fastest round."""
    by_server = {
        server: {_label(line, workloads): line for workload in workloads for line in runs.lines(server, workload)}
        for server in runs.servers
    }
    labels = list(dict.fromkeys(label for lines in by_server.values() for label in lines))
    figure = Figure(figsize=(10, 1.4 + INCHES_PER_BAR * len(labels) * len(by_server)), layout="constrained")
    axes = figure.add_subplot()
    height = BAR / max(1, len(by_server))
    for number, (server, lines) in enumerate(by_server.items()):
        shown = [(labels.index(label), line) for label, line in lines.items()]
        places = [place + (number - (len(by_server) - 1) / 2) * height for place, _ in shown]
        rates = [line.rate.median for _, line in shown]
        below = [line.rate.median - line.rate.least for _, line in shown]
        above = [line.rate.most - line.rate.median for _, line in shown]
        colour = COLOURS[number % len(COLOURS)]
        axes.barh(places, rates, height, xerr=[below, above], color=colour, label=server, error_kw={"lw": 0.8})
        for place, (_, line) in zip(places, shown, strict=True):
            axes.annotate(
                f"{line.rate.median:,.0f}", (line.rate.most, place), (4, 0), textcoords="offset points", va="center",
                fontsize=7,
            )  # fmt: skip
    axes.set_yticks(range(len(labels)), labels, fontsize=8)
    axes.invert_yaxis()
    axes.margins(x=0.12)
    axes.set_xlabel("rows per second")
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    axes.set_title(title, fontsize=10)
    axes.legend(loc="best", fontsize=8)
    figure.savefig(path, dpi=120)


def _label(line: Line, workloads: Sequence[str]) -> str:
    way = line.way + (" (sample)" if line.sample else "")
    return f"{line.workload}: {way}" if len(workloads) > 1 else way

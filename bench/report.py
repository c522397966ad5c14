"""Writes results as Markdown with charts: python -m bench.report RESULTS.json... [--to FOLDER]

Several files of one kind, such as one for each buffer pool or hour, count as more rounds of the same comparison.
"""

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median

from bench.charts import RateBar, draw
from bench.compare import Line, Runs
from bench.results import Results, read_results
from bench.spread import Spread

TITLES = {
    "ways": "Ways to load, compared",
    "link": "Ways to load over a slow link",
    "rows": "Cost as the file grows",
    "chunks": "Cost as the chunks get smaller",
    "small": "Cost as there are more small chunks",
    "files": "Several files at once",
    "checks": "Cost of each check",
    "advice": "The lab's recommendations, compared with all combinations of its grid",
}
LEGEND = """\
Rates are rows per second, from the start to the crash-safe end; medians, with the slowest and the fastest round in
brackets. A ratio is the rate divided by the other way's rate in the same round; above 1 is faster. *Best raw* is the
best LOAD DATA LOCAL that treats the secondary keys the same (in place, or built afterwards), *keys in place* the
best one that has them in place from the start, *baseline* the line without a ratio. *First row*: seconds to the
first committed row. *Peak*: the peak memory of one loading process. *Client* and *server*: seconds of processor time
per million rows. *s / server s*: seconds per second of the server's processor time, which excludes the current speed
of the machine. *Handover*: nanoseconds until a cache line that one processor hands to another one is back; that
speed depends on it. *Alike*: the median ratio to the baseline, or to the best raw way, in the rounds whose handover
was the same for both, within a fifth. *Written*: bytes that the server's process wrote during the load, divided by
the size of the file; pages that were still dirty at the end come later. *(sample)*: only the first rows of the file."""

Column = tuple[str, Callable[[Line], str]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", nargs="+", type=Path)
    parser.add_argument("--to", type=Path, help="the folder; default: that of the last results")
    arguments = parser.parse_args()
    print(write_report(arguments.results, arguments.to))


def write_report(paths: Sequence[Path], folder: Path | None = None) -> Path:
    """Write `<name>.md`, named after the last file, and a chart for each workload; return the path of the Markdown."""
    runs = Runs(read_results(paths))
    folder = folder or paths[-1].parent
    folder.mkdir(parents=True, exist_ok=True)
    report = folder / f"{paths[-1].stem}.md"
    parts = [f"# {TITLES[runs.results.kind]}", *_circumstances(runs.results), LEGEND]
    if runs.results.made["baseline"]:
        parts += _chart(runs, runs.workloads, report.with_suffix(".svg"), TITLES[runs.results.kind])
        parts += _tables(runs, runs.workloads)
    else:
        for workload in runs.workloads:
            title = _title(runs.results, workload)
            parts += [f"## {workload}", title]
            parts += _chart(runs, [workload], folder / f"{report.stem}-{workload}.svg", title)
            parts += _tables(runs, [workload])
    parts += _left_out(runs.results)
    report.write_text("\n\n".join(parts) + "\n")
    return report


def _chart(runs: Runs, workloads: Sequence[str], path: Path, title: str) -> list[str]:
    bars = [
        RateBar(_bar_name(line, len(workloads) > 1, len(runs.servers) > 1), line.rate)
        for workload in workloads
        for server in runs.servers
        for line in runs.lines(server, workload)
    ]
    path.write_text(draw(title, bars))
    return [f"![{title}]({path.name})"]


def _bar_name(line: Line, with_workload: bool, with_server: bool) -> str:
    name = line.way + (" (sample)" if line.sample else "")
    return f"{line.workload}: " * with_workload + name + f", {line.server}" * with_server


def _circumstances(results: Results) -> list[str]:
    made, machine = results.made, results.machine
    lines = [
        f"Measured {made['at']} at commit {made['commit'][:12]}{made['commit'][40:]} with `{made['command']}`:"
        f" {made['rounds']} rounds and {made['warm_up']} to warm up, seed {made['seed']}.",
        f"On {machine['processors']} processors ({machine['model']}), {machine['memory_mb']:,} MB of memory, Linux"
        f" {machine['kernel']}, Python {machine['python']}, mysqlclient {machine['mysqlclient']}.",
    ]
    for name, server in results.servers.items():
        known = server["variables"]
        safe = known.get("innodb_flush_log_at_trx_commit") == "1"
        end = "a load has ended when it is safe from a crash" if safe else "**a committed load may be lost in a crash**"
        values = ", ".join(f"{variable}={value}" for variable, value in known.items() if "version" not in variable)
        lines.append(
            f"**{name}** {known.get('version', '')}: {end}.\n\n<details><summary>Settings</summary>{values}</details>"
        )
    return [*lines, *made["notes"]]


def _title(results: Results, workload: str) -> str:
    each = results.workloads[workload]
    return f"{each['title']}: {each['rows']:,} rows, {each['bytes'] / 1e6:,.0f} MB"


def _tables(runs: Runs, workloads: Sequence[str]) -> list[str]:
    tables = []
    for server in runs.servers:
        lines = [line for workload in workloads for line in runs.lines(server, workload)]
        if lines:
            tables.append(f"**{server}**\n\n" + _table(lines, _columns(runs, workloads)))
            tables += [f"{line.way}, {line.workload}: {'; '.join(line.choices)}." for line in lines if line.choices]
    return tables


def _columns(runs: Runs, workloads: Sequence[str]) -> list[Column]:
    columns: list[Column] = [("way", lambda line: line.way + (" (sample)" if line.sample else ""))]
    if len(workloads) > 1:
        columns.insert(0, ("workload", lambda line: line.workload))
    columns += [
        ("keys", lambda line: line.keys),
        ("rounds", lambda line: str(line.rounds)),
        ("s", lambda line: f"{line.seconds.median:,.2f}"),
        ("rows/s", lambda line: _spread(line.rate, "{:,.0f}")),
    ]
    if runs.results.made["baseline"]:
        columns.append(("to baseline", lambda line: _spread(line.to_baseline)))
    else:
        columns += [
            ("to single", lambda line: _spread(line.to_single)),
            ("to best raw", lambda line: _spread(line.to_best) + (f" {line.best}" if line.to_best else "")),
            ("to keys in place", lambda line: _spread(line.to_best_before) if line.keys != "before" else ""),
        ]
    columns += [
        ("first row", lambda line: _number(line.first_row, "{:.2f}")),
        ("peak MB", lambda line: _number(_loader_peak(line), "{:.0f}")),
        ("client", lambda line: _number(_per_million(line, "cpu"), "{:.2f}")),
        ("server", lambda line: _number(_per_million(line, "server_cpu"), "{:.2f}")),
        ("s / server s", lambda line: _number(line.for_server_second, "{:.3f}")),
        ("handover", lambda line: _number(line.medians["handover"], "{:.0f}")),
        ("alike", lambda line: f"{median(line.alike):.2f} of {len(line.alike)}" if line.alike else ""),
        ("written", lambda line: _written(runs.results, line)),
    ]
    return columns


def _table(lines: Sequence[Line], columns: Sequence[Column]) -> str:
    rows = [[name for name, _ in columns], ["---"] * len(columns)]
    rows += [[show(line) for _, show in columns] for line in lines]
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def _spread(spread: Spread | None, form: str = "{:.2f}") -> str:
    if spread is None:
        return ""
    median, least, most = (form.format(value) for value in (spread.median, spread.least, spread.most))
    return f"{median} ({least}..{most})" if least != most else median


def _number(value: float | None, form: str) -> str:
    return "" if value is None else form.format(value)


def _loader_peak(line: Line) -> float | None:
    return line.peaks.get("load workers", line.peaks.get("client"))


def _per_million(line: Line, name: str) -> float | None:
    value = line.medians[name]
    return None if value is None else value / line.rows * 1e6


def _written(results: Results, line: Line) -> str:
    """The bytes that the server wrote, divided by those of the file; InnoDB's counters if /proc is not readable."""
    workload = results.workloads[line.workload]
    own = line.medians["server_written"]
    written = own if own is not None else (line.medians["server_data_written"] or 0)
    return f"{written / (workload['bytes'] * line.rows / workload['rows']):.1f}"


def _left_out(results: Results) -> list[str]:
    reasons = sorted({(each["workload"], each["way"], each["why"]) for each in results.left_out})
    if not reasons:
        return []
    return ["Not measured:\n\n" + "\n".join(f"- {workload}, {way}: {why}" for workload, way, why in reasons)]


if __name__ == "__main__":
    main()

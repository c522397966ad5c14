"""Checks the lab's recommendations against imports of the whole file with every combination of the grid.

    python -m bench.advice --workloads nodes indexed --rows 1500000 --rounds 3 --labs 3

For each workload and server, the file is imported once with the defaults, as a user would before a lab. Then `--labs`
labs try the grid, on as many rows as the page of a new lab suggests. Then the whole file is imported with each
combination of the grid, in rounds. The fastest of these was partly lucky. So the recommended combinations run against
it in rounds of their own (`--final-rounds`); the notes of the report give the share of its rate that each one reaches.

On a machine that others use, rates are noise. The notes therefore give rows per processor second of client and server,
too; `--by processor` takes the best by these. They do not see what parallel chunks gain.
"""

import argparse
import time
from collections.abc import Sequence
from statistics import median

from bench import application, settings
from bench.comparison import Comparison, comparison
from bench.files import Files
from bench.results import Results
from bench.rounds import Case
from bench.servers import Server
from bench.spread import Spread
from bench.ways import Millrace
from bench.workloads import WORKLOADS
from bench.workloads.table import SEED, dialect_of
from importer.engine.tuning.grid import Grid, Settings, combinations, words
from importer.engine.tuning.sampling import Sample
from importer.engine.units import MIB

# As many sessions as the workers of two processors load at once.
SESSIONS = (1, 2)
GRIDS = {
    "nodes": Grid("own", {"chunk_bytes": (MIB // 4, MIB, 4 * MIB, 16 * MIB), "parallelism": SESSIONS}),
    "indexed": Grid("own", {"chunk_bytes": (MIB, 8 * MIB), "parallelism": SESSIONS, "indexes": ("keep", "defer")}),
}
POLL_EVERY = 1.0  # seconds
# Rows per second, and rows per processor second of client and server.
MEASURES = ("rate", "processor")


def main() -> None:
    parser = settings.parser(__doc__)
    parser.add_argument("--workloads", nargs="+", choices=GRIDS, default=tuple(GRIDS), metavar="NAME")
    parser.add_argument("--labs", type=int, default=3, help="for each workload and server")
    parser.add_argument("--repeats", type=int, default=3, help="repeats of each trial of a lab")
    parser.add_argument("--final-rounds", type=int, default=7,
                        help="rounds of the recommendations against the grid's best")  # fmt: skip
    parser.add_argument("--by", choices=MEASURES, default=MEASURES[0],
                        help="the grid's best by rows per second, or per processor second of both sides")  # fmt: skip
    arguments = parser.parse_args()
    with comparison("advice", arguments) as compared:
        for name in arguments.workloads:
            files = compared.files(name, WORKLOADS[name], settings.rows_of(WORKLOADS[name], arguments))
            for server in compared.servers:
                advice = _advice(arguments, server, files, compared.supervisor_pid)
                compared.measure(_cases(name, files, combinations(GRIDS[name])), len(arguments.workloads), [server])
                best = _best(_speeds(compared.results, server, name, arguments.by), name)
                _measure_finals(compared, server, files, best, advice)
                for by in MEASURES:
                    finals = _speeds(compared.results, server, _finals(name), by)
                    where = f"{server.name}, {name}, by {by}"
                    compared.results.made["notes"] += _notes(finals, where, best, advice)
    print(compared.report())


def _finals(workload: str) -> str:
    """The workload's name in the results for the rounds of the recommendations against the grid's best."""
    return f"{workload}, advised"


def _advice(arguments: argparse.Namespace, server: Server, files: Files, supervisor_pid: int) -> list[Settings]:
    """The recommendation of each lab. The import with the defaults before them gives the number of rows to try."""
    default = Millrace()
    default.supervisor_pid = supervisor_pid
    default.prepare(server, files)
    default.load(server, files)
    default.prepare(server, files)
    return [_lab(server, files, arguments.repeats, SEED + number) for number in range(arguments.labs)]


def _lab(server: Server, files: Files, repeats: int, seed: int) -> Settings:
    from importer import lab
    from importer.models import Lab
    from importer.preparation.prepare import prepare
    from importer.preparation.request import ImportRequest
    from importer.sources import uploads

    (table,) = files.workload.tables
    prepared = prepare(
        uploads.register(files.whole(table)),
        application.saved_target(server),
        table.name,
        ImportRequest(dialect=dialect_of(files.separator), mapping=table.mapping),
    )
    sample = Sample(rows=lab.suggest_sample(prepared, GRIDS[files.workload.name]))
    created = lab.create(prepared, lab.LabRequest(GRIDS[files.workload.name], sample, repeats, seed=seed))
    lab.start(created.pk)
    while not (now := Lab.objects.get(pk=created.pk)).ended:
        time.sleep(POLL_EVERY)
    recommendation = lab.outcome(now)["recommendation"]
    assert recommendation, now.problem
    advised: Settings = recommendation["settings"]
    return advised


def _cases(workload: str, files: Files, tried: Sequence[Settings]) -> list[Case]:
    return [Case(workload, files, Millrace(_options(each), name=words(each))) for each in tried]


def _options(tried: Settings) -> dict[str, str]:
    return {name: str(value) for name, value in tried.items()}


def _speeds(results: Results, server: Server, workload: str, by: str) -> dict[str, dict[int, float]]:
    """Rows per second, or per processor second, of each way by round, without the warm-up."""
    speeds: dict[str, dict[int, float]] = {}
    for run in results.runs:
        if (run["server"], run["workload"]) == (server.name, workload) and run["round"] > 0:
            seconds = run["cpu"] + run["server_cpu"] if by == "processor" else run["seconds"]
            speeds.setdefault(run["way"], {})[run["round"]] = run["rows"] / seconds
    return speeds


def _best(speeds: dict[str, dict[int, float]], workload: str) -> Settings:
    """The combination of the grid with the highest median."""
    return max(combinations(GRIDS[workload]), key=lambda each: _median(speeds, words(each)))


def _measure_finals(
    compared: Comparison, server: Server, files: Files, best: Settings, advice: Sequence[Settings]
) -> None:
    """Run the best and each different recommendation in rounds; nothing if all of them are the same."""
    different = {words(each): each for each in (best, *advice)}
    if len(different) > 1:
        name = _finals(files.workload.name)
        finals = compared.files(name, files.workload, files.rows)
        cases = _cases(name, finals, list(different.values()))
        compared.measure(cases, rounds=compared.arguments.final_rounds, on=[server])


def _notes(speeds: dict[str, dict[int, float]], where: str, best: Settings, advice: Sequence[Settings]) -> list[str]:
    """A sentence for each recommendation: its speed as a share of that of the grid's best in the same rounds."""
    return [
        f"{where}: advice {number}: {_note(speeds, words(each), words(best))}"
        for number, each in enumerate(advice, start=1)
    ]


def _note(rates: dict[str, dict[int, float]], advised: str, best: str) -> str:
    if advised == best:
        return f"{advised}, which is the best of the grid."
    by_round = Spread.of_some([rates[advised][number] / rate for number, rate in rates[best].items()])
    return (
        f"{advised}: {by_round.median:.3f} of the best of the grid, {best}, by rounds ({by_round.least:.3f} to"
        f" {by_round.most:.3f}); {_median(rates, advised) / _median(rates, best):.3f} by medians."
    )


def _median(rates: dict[str, dict[int, float]], way: str) -> float:
    return median(rates[way].values())


if __name__ == "__main__":
    main()

"""Whether the lab's advice holds for the whole file: beside every combination that could have been chosen.

    python -m bench.advice --workloads nodes indexed --rows 1500000 --rounds 3 --labs 3

For each workload and server, the file is imported once with the defaults, as somebody would who then turns to the lab.
So many labs try the grid, on as many rows as the page of a new lab suggests. Then the whole file is imported in turns:
with each combination of the grid, and afresh with each lab's advice. The notes of the report have each advice's rates
beside those of the fastest combination.
"""

import argparse
import time
from collections.abc import Mapping, Sequence
from statistics import median

from bench import application, settings
from bench.compare import Runs, Spread
from bench.comparison import comparison
from bench.files import Files
from bench.results import Results
from bench.rounds import Case
from bench.servers import Server
from bench.ways import Millrace
from importer.engine.lab.grid import Grid, Settings, combinations, words
from importer.engine.lab.sampling import Sample
from importer.engine.sizes import MIB
from importer.engine.workloads import WORKLOADS
from importer.engine.workloads.table import SEED, dialect_of

# As many sessions as the workers of two processors load at once.
SESSIONS = (1, 2)
GRIDS = {
    "nodes": Grid("own", {"chunk_bytes": (MIB // 4, MIB, 4 * MIB, 16 * MIB), "parallelism": SESSIONS}),
    "indexed": Grid("own", {"chunk_bytes": (MIB, 8 * MIB), "parallelism": SESSIONS, "indexes": ("keep", "defer")}),
}
LOOK_EVERY = 1.0  # seconds


def main() -> None:
    parser = settings.parser(__doc__)
    parser.add_argument("--workloads", nargs="+", choices=GRIDS, default=tuple(GRIDS), metavar="NAME")
    parser.add_argument("--labs", type=int, default=3, help="for each workload and server")
    parser.add_argument("--repeats", type=int, default=3, help="of each trial of a lab")
    arguments = parser.parse_args()
    with comparison("advice", arguments) as compared:
        for name in arguments.workloads:
            files = compared.files(name, WORKLOADS[name], settings.rows_of(WORKLOADS[name], arguments))
            for server in compared.servers:
                advice = _advice(arguments, server, files, compared.above)
                compared.measure(_cases(name, files, advice), len(GRIDS), on=[server])
                compared.results.made["notes"] += _notes(compared.results, server.name, name, advice)
    print(compared.report())


def _advice(arguments: argparse.Namespace, server: Server, files: Files, above: int) -> list[Settings]:
    """What each lab recommends, after an import with the defaults that tells how many rows to try."""
    default = Millrace()
    default.above = above
    default.prepare(server, files)
    default.load(server, files)
    default.prepare(server, files)
    return [_lab(server, files, arguments.repeats, SEED + number) for number in range(arguments.labs)]


def _lab(server: Server, files: Files, repeats: int, seed: int) -> Settings:
    from importer import lab, sources
    from importer.models import Lab
    from importer.preparation import prepare

    (table,) = files.workload.tables
    prepared = prepare(
        sources.register(files.whole(table)),
        application.saved_target(server),
        table.name,
        dialect=dialect_of(files.separator),
        mapping=table.mapping,
    )
    sample = Sample(rows=lab.suggest_sample(prepared))
    made = lab.create(prepared, lab.Asked(GRIDS[files.workload.name], sample, repeats, seed=seed))
    lab.start(made.pk)
    while not (now := Lab.objects.get(pk=made.pk)).ended:
        time.sleep(LOOK_EVERY)
    found = lab.outcome(now)["recommendation"]
    assert found, now.problem
    return found["settings"]


def _cases(name: str, files: Files, advice: Sequence[Settings]) -> list[Case]:
    tried = [Millrace(_asked(each), name=words(each)) for each in combinations(GRIDS[name])]
    return [Case(name, files, way) for way in tried + _advised(advice)]


def _advised(advice: Sequence[Settings]) -> list[Millrace]:
    named = [(f"advice {number}: {words(each)}", each) for number, each in enumerate(advice, start=1)]
    return [Millrace(_asked(each), name=name) for name, each in named]


def _asked(tried: Settings) -> dict[str, str]:
    return {name: str(value) for name, value in tried.items()}


def _notes(results: Results, server: str, workload: str, advice: Sequence[Settings]) -> list[str]:
    """A sentence for each advice: what it reaches of the combination with the best median."""
    medians = {line.way: line.rate.median for line in Runs(results).lines(server, workload)}
    advised = [each.name for each in _advised(advice)]
    best = max((way for way in medians if way not in advised), key=medians.__getitem__)
    rates: dict[str, dict[int, float]] = {}
    for run in results.runs:
        if (run["server"], run["workload"]) == (server, workload) and run["round"] > 0:
            rates.setdefault(run["way"], {})[run["round"]] = run["rows"] / run["seconds"]
    return [_note(f"{server}, {workload}: {way}", rates[way], best, rates[best]) for way in advised]


def _note(advice: str, rates: Mapping[int, float], best: str, of_best: Mapping[int, float]) -> str:
    """Both by round. The best of a grid is partly the luckiest; rounds beside each other show how much that is."""
    by_round = Spread.of([rates[number] / of_best[number] for number in of_best])
    by_medians = median(rates.values()) / median(of_best.values())
    return (
        f"{advice}: {by_medians:.3f} of the best of the grid, {best}, by medians;"
        f" {by_round.median:.3f} by rounds ({by_round.least:.3f} to {by_round.most:.3f})."
    )


if __name__ == "__main__":
    main()

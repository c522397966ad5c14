"""Measures growth: ten times the rows, up to 10,000 chunks instead of one, 16 files at once instead of one.

    python -m bench.growth rows --server mysql://root@127.0.0.1:3306/ --rows 1000000 --rounds 5
    python -m bench.growth chunks --rows 1000000
    python -m bench.growth small
    python -m bench.growth files --rows 2000000

Each is a comparison with a report of its own. `--rows` are the rows of the smaller file, of the file that is cut into
chunks, or of all files together. In `small` all chunks have the same size, so more chunks make a larger file.
"""

from collections.abc import Sequence
from dataclasses import replace

from bench import settings
from bench.comparison import Comparison, comparison
from bench.rounds import Case
from bench.ways import Millrace, Pieces, way
from bench.workloads import NODES, Workload

TIMES = 10
CHUNKS = (1, 10, 100, 1000, 10_000)
SMALL = 50  # rows of each small chunk
FILES = (1, 2, 4, 8, 16)
# The case that the others are compared with.
BASELINES = {
    "rows": {"workload": "nodes"},
    "chunks": {"way": "100 chunks"},
    "small": {"workload": "100 chunks"},
    "files": {"workload": "1 file"},
}


def main() -> None:
    parser = settings.parser(__doc__)
    parser.add_argument("what", choices=BASELINES)
    parser.add_argument(
        "--chunks", type=int, nargs="+", default=CHUNKS, help="approximate numbers of chunks; 100 must be among them"
    )
    parser.add_argument("--no-raw", action="store_true", help="with chunks: only Millrace")
    parser.add_argument("--files", type=int, nargs="+", default=FILES, help="numbers of files; 1 must be among them")
    arguments = parser.parse_args()
    cases = {"rows": _rows, "chunks": _chunks, "small": _small, "files": _files}[arguments.what]
    with comparison(arguments.what, arguments, BASELINES[arguments.what]) as compared:
        compared.measure(cases(compared, settings.rows_of(NODES, arguments)))
    print(compared.report())


def _rows(compared: Comparison, rows: int) -> Sequence[Case]:
    sizes = {"nodes": rows, f"nodes, {TIMES} times": rows * TIMES}
    return [
        Case(name, compared.files(name, NODES, size), way(each))
        for name, size in sizes.items()
        for each in ("split-2", "millrace")
    ]


def _chunks(compared: Comparison, rows: int) -> Sequence[Case]:
    files = compared.files("nodes", NODES, rows)
    counts = compared.arguments.chunks
    ours = [Millrace({"chunk_bytes": str(-(-files.bytes // count))}, name=f"{count} chunks") for count in counts]
    # The cost of this number of commits without Millrace.
    raw = [] if compared.arguments.no_raw else map(Pieces, counts)
    return [Case("nodes", files, each) for each in (*ours, *raw)]


def _small(compared: Comparison, _rows: int) -> Sequence[Case]:
    way = Millrace({"commit_rows": str(SMALL)}, name=f"chunks of {SMALL} rows")
    counts = {f"{count} chunks": count for count in compared.arguments.chunks}
    return [Case(name, compared.files(name, NODES, SMALL * count), way) for name, count in counts.items()]


def _files(compared: Comparison, rows: int) -> Sequence[Case]:
    cases = []
    for count in compared.arguments.files:
        name = f"{count} file{'s' * (count > 1)}"
        cases.append(Case(name, compared.files(name, parted(count), rows), Millrace(at_once=True)))
    return cases


def parted(count: int) -> Workload:
    """The nodes shared out over `count` tables, each with its file."""
    (nodes,) = NODES.tables
    parts = tuple(replace(nodes, name=f"nodes_{number}", of=count) for number in range(1, count + 1))
    return replace(NODES, name=f"nodes in {count}", tables=parts)


if __name__ == "__main__":
    main()

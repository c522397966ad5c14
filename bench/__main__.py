"""Compares Millrace with other ways to load the same files into the same server, in one run (bench/README.md).

python -m bench                                     private servers, all workloads, usual sizes
python -m bench --server a=mysql://root@127.0.0.1:3306/ --workloads nodes --size 1G --rounds 5
"""

from bench import settings
from bench.comparison import comparison
from bench.rounds import Case
from bench.ways import SAMPLE, USUAL, WORDS, way
from bench.workloads import USUAL as USUAL_WORKLOADS
from bench.workloads import WORKLOADS


def main() -> None:
    parser = settings.parser(__doc__, epilog=f"Ways:{WORDS}")
    parser.add_argument("--workloads", nargs="+", choices=WORKLOADS, default=USUAL_WORKLOADS, metavar="NAME",
                        help=f"of {', '.join(WORKLOADS)}; usual: {', '.join(USUAL_WORKLOADS)}")  # fmt: skip
    parser.add_argument("--ways", nargs="+", default=USUAL, metavar="WAY", help="see below")
    parser.add_argument("--sample", type=int, default=SAMPLE, help="rows of the ways that send single rows")
    arguments = parser.parse_args()
    ways = [way(name, arguments.sample) for name in arguments.ways]
    with comparison("ways", arguments) as compared:
        for name in arguments.workloads:
            files = compared.files(name, WORKLOADS[name], settings.rows_of(WORKLOADS[name], arguments))
            compared.measure([Case(name, files, each) for each in ways], parts=len(arguments.workloads))
    print(compared.report())


if __name__ == "__main__":
    main()

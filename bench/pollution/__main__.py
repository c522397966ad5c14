"""Scores loaders on polluted files as the Pollock benchmark does, and lists what each of them loses.

    python -m bench.pollution                     every file, every loader, on private servers: 15 minutes each
    python -m bench.pollution --every 20          of the files with one bad row every 20th
    python -m bench.pollution --loaders "LOAD DATA" parameters --only "quote added"

Each file is loaded by all loaders in turn. A loss is a file with less than the full score of 10; those of one kind and
one cause are one line, with the number of files, the points lost in all, the first file, and the reason.
"""

import argparse
import logging
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from contextlib import redirect_stderr
from io import StringIO
from pathlib import Path

from bench import application
from bench.pollution.loaders import LOADERS, plain_client
from bench.pollution.losses import Loss, losses
from bench.pollution.polluters import PollutedFile, chosen, polluted_files
from bench.pollution.score import Loaded, score, totals
from bench.servers import Server, servers_to_measure


def main() -> None:
    arguments = _arguments()
    with tempfile.TemporaryDirectory(prefix="millrace-pollution-") as name:
        folder = Path(name)
        _set_up(folder)
        files = [file for file in chosen(polluted_files(), arguments.every) if arguments.only in file.name]
        with servers_to_measure(arguments.server, folder, ()) as servers:
            for server in servers:
                _report(server, files, _loaded(server, files, arguments.loaders, folder), arguments.lines)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", action="append", default=[], metavar="NAME=URL", help="instead of private servers")
    parser.add_argument("--loaders", nargs="+", choices=LOADERS, default=list(LOADERS), metavar="LOADER",
                        help=f"of {', '.join(LOADERS)}")  # fmt: skip
    parser.add_argument("--every", type=int, default=1, metavar="N", help="take every Nth file with one bad row")
    parser.add_argument("--only", default="", metavar="TEXT", help="take the files with this text in their names")
    parser.add_argument("--lines", type=int, default=40, metavar="N", help="most lines of losses for each loader")
    return parser.parse_args()


def _set_up(folder: Path) -> None:
    """Set Millrace up with a database of its own; its warnings about bad rows are not shown."""
    from django.core.management import call_command

    application.set_up(folder)
    logging.disable(logging.WARNING)
    call_command("migrate", verbosity=0)


def _loaded(
    server: Server, files: Sequence[PollutedFile], loaders: Sequence[str], folder: Path
) -> dict[str, list[Loaded]]:
    """What each loader makes of each file."""
    target = application.saved_target(server).name
    made: dict[str, list[Loaded]] = defaultdict(list)
    path = folder / "polluted.csv"
    with plain_client(server.address) as connection, redirect_stderr(StringIO()):  # The notes of each import.
        for file in files:
            path.write_bytes(file.content)
            for name in loaders:
                made[name].append(LOADERS[name](connection, target, file, path))
    return made


def _report(server: Server, files: Sequence[PollutedFile], made: dict[str, list[Loaded]], lines: int) -> None:
    print(f"\n{server.name}: {len(files):,} files\n\n{'':12} simple  weighted  (of 10)")
    scores = {name: [score(*pair) for pair in zip(files, loaded, strict=True)] for name, loaded in made.items()}
    for name, each in scores.items():
        simple, weighted = totals(files, each)
        print(f"{name:12} {simple:6.4f}    {weighted:6.4f}")
    for name, loaded in made.items():
        found = losses(files, loaded, scores[name])
        print(f"\nLosses of {name}: {sum(each.files for each in found):,} files")
        for loss in found[:lines]:
            print(f"  {_line(loss)}")
        if len(found) > lines:
            print(f"  ... and {len(found) - lines} more kinds")


def _line(loss: Loss) -> str:
    return (
        f"{loss.files:4} files, {loss.points:8.3f} points, {loss.weighted:9.3f} weighted; {loss.first}: {loss.reason}"
    )


if __name__ == "__main__":
    main()

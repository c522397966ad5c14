"""`manage.py seed_history`: writes generated imports, to measure the history or to try its pages."""

from typing import Any

from django.core.management.base import CommandParser
from tqdm import tqdm

from importer.engine.errors import Problem
from importer.experiments.workloads.sample_history import PREFIX, real_jobs, seed
from importer.management.base_command import PreparedCommand


class Command(PreparedCommand):
    help = f"Write generated imports of targets named {PREFIX}... into the application's database."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--jobs", type=int, default=10_000)
        parser.add_argument("--chunks", type=int, default=1_000_000, help="approximate number for all jobs together")
        parser.add_argument("--tables", type=int, default=40)
        parser.add_argument("--seed", type=int, default=1, help="the same seed gives the same imports")
        parser.add_argument("--with-real-jobs", action="store_true", help="even if there are real imports")

    def handle(self, *_args: Any, **options: Any) -> None:
        if options["jobs"] < 1 or options["tables"] < 1:
            raise Problem("Nothing is to be generated.", advice="Give at least one job and one table.")
        if not options["with_real_jobs"] and (real := real_jobs()):
            raise Problem(
                f"This installation has {real:,} real imports. Generated ones would stay among them.",
                advice="Use another VAR_DIR or DATABASE_URL, or add --with-real-jobs.",
            )
        with tqdm(total=options["jobs"], unit="job", disable=None) as bar:
            for written in seed(options["jobs"], options["chunks"], tables=options["tables"], seed=options["seed"]):
                bar.update(written - bar.n)
        self.stdout.write(f"{options['jobs']:,} generated imports are written.")

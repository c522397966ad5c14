"""`manage.py seed_history`: made-up imports to measure the history with, or to try its pages out."""

from typing import Any

from django.core.management.base import CommandError, CommandParser
from tqdm import tqdm

from importer.management.base_command import PreparedCommand
from importer.management.sample_history import PREFIX, real_jobs, seed


class Command(PreparedCommand):
    help = f"Write made-up imports, of targets named {PREFIX}..., into the application's database."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--jobs", type=int, default=10_000)
        parser.add_argument("--chunks", type=int, default=1_000_000, help="of all jobs together, about")
        parser.add_argument("--tables", type=int, default=40)
        parser.add_argument("--seed", type=int, default=1, help="the same one makes the same imports")
        parser.add_argument("--beside-real-jobs", action="store_true", help="even where real imports are remembered")

    def handle(self, *_args: Any, **options: Any) -> None:
        if options["jobs"] < 1 or options["tables"] < 1:
            raise CommandError("Ask for at least one job, and one table.")
        if not options["beside_real_jobs"] and (real := real_jobs()):
            raise CommandError(
                f"This installation remembers {real:,} real imports, among which made-up ones would stand for ever."
                " Take another VAR_DIR or DATABASE_URL, or add --beside-real-jobs."
            )
        with tqdm(total=options["jobs"], unit="job", disable=None) as bar:
            for written in seed(options["jobs"], options["chunks"], tables=options["tables"], seed=options["seed"]):
                bar.update(written - bar.n)
        self.stdout.write(f"{options['jobs']:,} made-up imports are remembered.")

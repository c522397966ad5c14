"""Writes generated imports into the application's database, to measure the history or to try its pages.

VAR_DIR=var/seeded python -m bench.seed_history --jobs 2000 --chunks 100000
"""

import argparse
import os

from tqdm import tqdm

from importer.engine.errors import Problem


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=10_000)
    parser.add_argument("--chunks", type=int, default=1_000_000, help="approximate number for all jobs together")
    parser.add_argument("--tables", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1, help="the same seed gives the same imports")
    parser.add_argument("--with-real-jobs", action="store_true", help="even if there are real imports")
    arguments = parser.parse_args()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    import django
    from django.core.management import call_command

    django.setup()
    call_command("prepare")
    try:
        write_history(**vars(arguments))
    except Problem as problem:
        parser.exit(1, f"{problem}\n")


def write_history(jobs: int, chunks: int, tables: int = 40, seed: int = 1, *, with_real_jobs: bool = False) -> None:
    """Write the imports. Raises Problem if there are real ones, unless `with_real_jobs`."""
    from bench.workloads import sample_history

    if not with_real_jobs and (real := sample_history.real_jobs()):
        raise Problem(
            f"This installation has {real:,} real imports. Generated ones would stay among them.",
            advice="Use another VAR_DIR or DATABASE_URL, or add --with-real-jobs.",
        )
    with tqdm(total=jobs, unit="job", disable=None) as bar:
        for written in sample_history.seed(jobs, chunks, tables=tables, seed=seed):
            bar.update(written - bar.n)


if __name__ == "__main__":
    main()

"""Runs Celery's `worker` or `beat` with their options: `celery_process worker --queues=load`.

Celery's own command line would load an interactive shell: 12 MB in every process.
"""

import os
import sys
from typing import Any

from config import garbage
from config.frames import in_one_piece


@in_one_piece
def main() -> None:
    """Run the command until it ends, and exit with its status."""
    garbage.pause()
    # Django's checks would load all pages into each process: 4 MB that are not needed.
    os.environ["CELERY_SKIP_CHECKS"] = "true"
    from celery.bin.base import CLIContext
    from celery.bin.beat import beat
    from celery.bin.worker import worker
    from celery.signals import beat_init, worker_init

    from config.celery import app

    for everything_is_imported in (beat_init, worker_init):
        everything_is_imported.connect(_look_for_garbage)
    name, *arguments = sys.argv[1:]
    context = CLIContext(app=app, no_color=False, workdir=None)
    {"worker": worker, "beat": beat}[name].main(args=arguments, prog_name=f"celery {name}", obj=context)


def _look_for_garbage(**_: Any) -> None:
    garbage.resume()


if __name__ == "__main__":
    main()

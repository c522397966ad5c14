"""Celery's own `worker` and `beat`, with their own options: `python -m scripts.celery_process worker --queues=load`.

Celery's command line loads an interactive shell for each command that it has: 12 MB that every process would keep.
"""

import os
import sys

from celery.bin.base import CLIContext
from celery.bin.beat import beat
from celery.bin.worker import worker

COMMANDS = {"worker": worker, "beat": beat}


def main() -> None:
    """Be that command until it ends; its exit status is that of this process."""
    # Django's checks would load all pages into each process: 4 MB that none of these needs.
    os.environ["CELERY_SKIP_CHECKS"] = "true"
    from config.celery import app

    name, *arguments = sys.argv[1:]
    context = CLIContext(app=app, no_color=False, workdir=None)
    COMMANDS[name].main(args=arguments, prog_name=f"celery {name}", obj=context)


if __name__ == "__main__":
    main()

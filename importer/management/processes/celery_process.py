"""Runs Celery's `worker` or `beat` with their options: `celery_process worker --queues=load`.

Celery's own command line would load an interactive shell: 12 MB in every process.
"""

import os
import sys

from celery.bin.base import CLIContext
from celery.bin.beat import beat
from celery.bin.worker import worker

COMMANDS = {"worker": worker, "beat": beat}


def main() -> None:
    """Run the command until it ends, and exit with its status."""
    # Django's checks would load all pages into each process: 4 MB that are not needed.
    os.environ["CELERY_SKIP_CHECKS"] = "true"
    from config.celery import app

    name, *arguments = sys.argv[1:]
    context = CLIContext(app=app, no_color=False, workdir=None)
    COMMANDS[name].main(args=arguments, prog_name=f"celery {name}", obj=context)


if __name__ == "__main__":
    main()

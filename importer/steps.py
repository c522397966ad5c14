"""What a worker does for each step of an import, by the name of its task (tasks.py)."""

from importer import arranging, finishing, runs, work

OF_AN_IMPORT = {
    "scan": work.scan_job,
    "load_run": runs.load,
    "verify": work.verify_job,
    "arrange": arranging.arrange_job,
    "restore": arranging.restore_job,
    "stage": finishing.stage_job,
    "finish": finishing.finish_job,
    "clean": finishing.clean_job,
}

"""The function of each step of an import, by the name of its task (tasks.py)."""

from importer.worker import change_target, load_chunks, scan, stage_and_finish, verify

IMPORT_STEPS = {
    "scan": scan.scan_job,
    "load_run": load_chunks.load,
    "verify": verify.verify_job,
    "arrange": change_target.change_target_job,
    "restore": change_target.restore_job,
    "stage": stage_and_finish.stage_job,
    "finish": stage_and_finish.finish_job,
    "clean": stage_and_finish.clean_job,
    "undo": stage_and_finish.undo_job,
}

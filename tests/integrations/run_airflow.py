"""Runs the DAG of a document in the environment of Airflow: one run again and again, a line of JSON each time.

run_airflow.py FILE-WITH-THE-EXAMPLE load|kill|kill-early
"""

import json
import sys
import threading
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace

from airflow.sdk import BaseOperator

from millrace_client import Millrace, NotLoaded

SAME_RUN = datetime(2026, 11, 28, tzinfo=UTC)


def dag_of(path: str):
    names = {"__name__": "example"}
    exec(Path(path).read_text(), names)
    return names["orders"]()


def answer(said: object) -> None:
    print("answer:", json.dumps(said), flush=True)


def load(path: str) -> None:
    """One run of the DAG, with its retries, for each line on standard input: always the same run."""
    for _line in sys.stdin:
        run = dag_of(path).test(logical_date=SAME_RUN, run_after=SAME_RUN)
        [task] = run.get_task_instances()
        result = task.xcom_pull(task_ids="load")
        answer({"state": task.state, "tries": task.try_number, "result": result})


def task_of(path: str) -> BaseOperator:
    operator = dag_of(path).get_task("load")
    assert isinstance(operator, BaseOperator)
    return operator


def outcome(operator: BaseOperator) -> str | None:
    """Carry the task out; the outcome that it raises."""
    names = SimpleNamespace(dag_id="orders", run_id="killed", task_id="load", map_index=-1)
    try:
        operator.execute({"ti": names})
    except NotLoaded as problem:
        return str(problem.report["outcome"])
    return None


def kill(path: str) -> None:
    """Begin the task, and end it as Airflow does once its import is under way; then say what it raised."""
    operator = task_of(path)
    thread = threading.Thread(target=lambda: answer(outcome(operator)))
    thread.start()
    sys.stdin.readline()  # The test has seen the import load.
    operator.on_kill()
    thread.join()


def kill_early(path: str) -> None:
    """Begin the task, and end it before the server has answered the request that starts its import, and again after."""
    operator = task_of(path)
    start = Millrace.start

    def killed(*args, **named):
        operator.on_kill()
        report = start(*args, **named)
        operator.on_kill()
        return report

    Millrace.start = killed
    answer(outcome(operator))


if __name__ == "__main__":
    {"load": load, "kill": kill, "kill-early": kill_early}[sys.argv[2]](sys.argv[1])

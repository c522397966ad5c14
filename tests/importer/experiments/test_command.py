"""`millrace experiment`: every published experiment runs on every server and leaves nothing behind."""

import re
import signal
import subprocess
from io import StringIO
from pathlib import Path

import pytest
from django.conf import settings
from django.core.management import call_command
from django.urls import reverse

from importer import lab
from importer.engine.errors import Cancelled, Problem
from importer.engine.mysql.connection import Address
from importer.experiments import runner
from importer.experiments.published.registry import EXPERIMENTS
from importer.lab.lifecycle import GONE
from importer.management.processes.private_servers import free_port
from importer.models import Chunk, ImportJob, Lab, SourceFile, Target
from tests.documents import read
from tests.importer.labs import record_count, tables
from tests.stack import PYTHON, ROOT, wait_until
from tests.targets import saved_target

TINY = ["--repeats", "1", "--no-warm-up", "--seed", "1"]
# What no server of today does any more, with its answer.
REFUSED = {"bulks": {"INSERT DELAYED": r"(error 1616|warning 3005), .* Use INSERTs of many rows or LOAD DATA"}}


def require_nothing_left(address: Address) -> None:
    assert (tables(address), record_count(address)) == (set(), 0)
    assert not ImportJob.objects.exists()
    assert not SourceFile.objects.exists()
    assert list(settings.LAB_DIR.glob("*-*-*-*-*.*")) == []


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_an_experiment_measures_every_way_and_leaves_nothing_behind(
    name, database, tmp_path: Path, transactional_db, admin_client
):
    """Private servers take seconds to start: test_private_servers.py has those ways."""
    target = saved_target(database, database.database)
    out = StringIO()
    ways = [each.name for each in EXPERIMENTS[name].ways if not each.server]
    call_command(
        *("lab", "experiment", name, "--target", target.name, "--size", "40", *TINY, "--json"),
        *(word for way in ways for word in ("--way", way)),
        *("--report", str(tmp_path)),
        stdout=out,
    )
    result = read(out.getvalue())
    assert [each["way"] for each in result["ways"]] == ways
    failed = {each["way"]: each["failed"] for each in result["ways"] if each["failed"]}
    assert set(failed) == set(REFUSED.get(name, {}))
    assert all(re.search(said, failed[way]) for way, said in REFUSED.get(name, {}).items())
    assert all(each["rate"]["median"] > 0 for each in result["ways"] if each["way"] not in failed)
    assert {each["verdict"] for each in result["claims"]} <= {"agrees", "disagrees", "not comparable"}
    require_nothing_left(database)
    done = Lab.objects.get()
    assert done.status == Lab.Status.DONE
    pages = ("lab", "lab_charts", "lab_report")
    assert [admin_client.get(reverse(page, args=[done.pk])).status_code for page in pages] == [200, 200, 200]
    flavour = result["server"].split()[0].lower()
    report = (tmp_path / f"{name}-{flavour}.md").read_text()
    assert f"`millrace experiment run {name} --target {target.name} --size 40 --repeats 1 --seed 1" in report
    assert all(f"| {each} |" in report for each in ways)
    assert (tmp_path / f"{name}-{flavour}.svg").read_text().startswith("<svg")


def test_experiment_run_reports_each_way_when_it_begins_and_when_it_ends(mariadb, transactional_db):
    target, printed = saved_target(mariadb, mariadb.database), StringIO()
    arguments = ("--target", target.name, "--size", "40", *TINY)
    ways = {"1 partition, 1 session", "16 partitions, 1 session"}
    call_command(
        *("experiment", "run", "partitions", *arguments, "--way", "16 *, 1 session"), stdout=StringIO(), stderr=printed
    )
    _, *lines = printed.getvalue().splitlines()
    assert {begins.partition(" round 1: ")[2] for begins in lines[::2]} == ways
    assert all(re.fullmatch(r"  after \d+ s, its tables included: [\d,.]+/s", each) for each in lines[1::2])
    assert len(lines) == 2 * len(ways)


def test_a_sweep_removes_everything_of_an_experiment_whose_process_was_killed(mariadb, stack_env, transactional_db):
    target = saved_target(mariadb, mariadb.database)
    command = [str(PYTHON), "manage.py", "lab", "experiment", "partitions", "--target", target.name, "--size", "20000"]
    with subprocess.Popen(command, cwd=ROOT, env=stack_env.env) as process:
        wait_until(lambda: Chunk.objects.filter(status=Chunk.Status.LOADING).exists(), what="a load")
        process.send_signal(signal.SIGKILL)

    def ended() -> bool:
        """Whether the lab has ended: after its lease expired, by this sweep or by the workers' own."""
        call_command("lab", "sweep", stdout=StringIO())
        return Lab.objects.get().ended

    wait_until(ended)
    require_nothing_left(mariadb)
    assert (Lab.objects.get().status, Lab.objects.get().problem["what"]) == (Lab.Status.FAILED, GONE.what)


def test_an_experiment_does_not_run_if_cancelled_or_if_another_lab_has_the_target(mariadb, transactional_db):
    request = runner.ExperimentRequest(EXPERIMENTS["naive"], 10)
    target = saved_target(mariadb, mariadb.database)
    begun = runner.begin(request, target)
    with pytest.raises(Problem, match="Another lab has the target"):
        runner.begin(request, target)
    lab.cancel(begun.pk)
    with pytest.raises(Cancelled):
        runner.run(begun)
    assert runner.finish(begun).status == Lab.Status.CANCELLED
    assert lab.outcome(begun)["recommendation"] is None


class ObstacleReported(Exception):
    """Ends a loop that would run until the server is reachable again."""


def test_finish_reports_what_it_waits_for(mariadb, transactional_db):
    def tell(obstacle: str) -> None:
        raise ObstacleReported(obstacle)

    target = saved_target(mariadb, mariadb.database)
    begun = runner.begin(runner.ExperimentRequest(EXPERIMENTS["naive"], 10), target)
    Target.objects.filter(pk=target.pk).update(port=free_port())
    with pytest.raises(ObstacleReported, match="No server answers there"):
        runner.finish(begun, tell=tell)
    Target.objects.filter(pk=target.pk).update(port=mariadb.port)
    assert runner.finish(begun).ended
    require_nothing_left(mariadb)


@pytest.mark.django_db
def test_a_pattern_that_fits_no_way_is_refused():
    with pytest.raises(Problem, match="partitions has no way 3 partitions"):
        EXPERIMENTS["partitions"].chosen(["1 partition*", "3 partitions*"])


@pytest.mark.django_db
def test_experiment_list_shows_rows_and_times():
    out = StringIO()
    call_command("experiment", "list", stdout=out)
    assert out.getvalue().count("    full: ") == len(EXPERIMENTS)
    assert "1,200,000 rows" in out.getvalue()

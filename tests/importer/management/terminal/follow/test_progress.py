"""The line that shows how far an import is, on terminals and elsewhere; and Ctrl-C on a terminal."""

import re
import subprocess
from pathlib import Path

import pytest

from importer.models import ImportJob
from importer.models.outcomes import CANCELLED, UNKNOWN
from tests.importer.management.command_line.interrupts import locked, waiting_loads
from tests.importer.management.command_line.terminal import COMMAND, CTRL_C, terminal
from tests.importer.management.people_file import ROWS, loaded
from tests.stack import ROOT, Stack, wait_until

# Bytes, rows, rate, time left and phase.
BAR = re.compile(
    "\r" r".{20} +\d+% import \d+: [\d.]+ \w+ of [\d.]+ \w+, [\d,]+ rows, [\d,]+ rows/s, [\w ]+ left, loading"
)
LINE = re.compile(r"^import \d+: [\d.]+ \w+ of [\d.]+ \w+, [\d,]+ rows.*, (waiting|loading)", re.MULTILINE)
# Many small transactions, so that it takes longer than the first look at it.
SLOWLY = ("--commit-rows", "2", "--parallel", "1")


def load(people: Path, *options: str) -> list[str]:
    return ["load", str(people), "--to", "t", "--table", "people", *options]


@pytest.mark.usefixtures("no_workers")
def test_a_terminal_shows_bytes_rows_rate_time_left_and_phase(target, people, stack_env: Stack):
    with terminal(stack_env.env, *load(people, *SLOWLY)) as shown:
        assert shown.end() == 0, shown.text
    assert BAR.search(shown.text), shown.text
    assert f"succeeded: {ROWS:,} = {ROWS:,}" in shown.text
    assert loaded(target)[0] == ROWS


def test_a_dumb_terminal_gets_lines_and_ctrl_c_ends_an_import_of_workers(target, people, stack: Stack):
    with locked(target, "people"), terminal(stack.env, *load(people, "--workers"), term="dumb") as shown:
        wait_until(lambda: waiting_loads(target) or shown.process.poll() is not None)
        wait_until(lambda: LINE.search(shown.text) or shown.process.poll() is not None)
        shown.press(CTRL_C)
        assert shown.end() == CANCELLED.exit_code, shown.text
    assert f"To load the missing rows: millrace job retry {ImportJob.objects.get().pk}" in shown.text
    assert LINE.search(shown.text)
    assert "\x1b" not in shown.text
    assert "%|" not in shown.text
    assert loaded(target)[0] == 0


@pytest.mark.usefixtures("no_workers")
@pytest.mark.parametrize("term", ["xterm", "dumb"])
def test_an_import_whose_terminal_is_closed_is_cancelled(target, people, stack_env: Stack, term: str):
    """Although the bar or the lines, and the last message, have no place any more."""
    with locked(target, "people"), terminal(stack_env.env, *load(people), term=term) as shown:
        wait_until(lambda: waiting_loads(target) or shown.process.poll() is not None)
        shown.until("import ")
        shown.hang_up()
        assert shown.end() == UNKNOWN
    assert ImportJob.objects.get().status == ImportJob.Status.CANCELLED
    assert loaded(target)[0] == 0


def test_workers_load_what_a_command_hands_them(target, people, stack: Stack):
    done = subprocess.run(
        [*COMMAND, *load(people, "--workers")], cwd=ROOT, env=stack.env, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert f"succeeded: {ROWS:,} = {ROWS:,}" in done.stdout
    # No terminal, no line.
    assert not LINE.search(done.stderr)
    assert "%|" not in done.stderr
    loaders = ImportJob.objects.get().chunks.values_list("worker", flat=True)
    assert {int(each.partition("@")[0]) for each in loaders} <= set(stack.load_worker.children())
    assert loaded(target)[0] == ROWS

"""Ctrl-C, SIGTERM and SIGHUP end a command with its exit code, a message or a document: also while it loads modules."""

import os
from pathlib import Path

import pytest

from importer.models.outcomes import CANCELLED
from tests.documents import read
from tests.importer.management.command_line.interrupts import started

# `millrace`, which gets Ctrl-C when it imports MODULE.
PROGRAM = """
import os, signal, sys

class Presses:
    def find_spec(self, name, *_):
        if name == os.environ.get("MODULE"):
            del os.environ["MODULE"]  # Only once.
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Presses())
from importer.management.command_line.main import main
main()
"""
AWAY = ("--server", "http://127.0.0.1:9", "--plain-http")
MODELS = "importer.models"


def run(tmp_path: Path, module: str, words: tuple[str, ...]) -> tuple[int, str, str]:
    env = {"PATH": os.environ["PATH"], "VAR_DIR": str(tmp_path), "MODULE": module, "MILLRACE_TOKEN": "x"}
    command = started(PROGRAM, words, env)
    printed, said = command.communicate(timeout=60)
    return command.returncode, printed, said


@pytest.mark.parametrize(
    ("module", "words", "schema"),
    [
        (MODELS, ("load", "x.csv", "mysql://127.0.0.1:9/shop.orders", "--json"), "report"),
        (MODELS, ("job", "list", "--json"), "problem"),
        ("importer.management.command_line.remote.load", (*AWAY, "load", "x.csv", "--json"), "report"),
    ],
)
def test_it_is_a_document(tmp_path: Path, module: str, words: tuple[str, ...], schema: str):
    code, printed, said = run(tmp_path, module, words)
    document = read(printed)
    assert (code, document["exit_code"]) == (CANCELLED.exit_code, CANCELLED.exit_code), said
    assert document["schema"].startswith(f"millrace.{schema}/")
    assert document["problem"]["code"] == 1500
    assert "Traceback" not in said


def test_it_is_a_line(tmp_path: Path):
    code, printed, said = run(tmp_path, MODELS, ("load", "x.csv", "mysql://127.0.0.1:9/shop.orders"))
    assert (code, printed, said) == (
        CANCELLED.exit_code,
        "",
        "Ctrl-C ended the command before it began. Nothing was written.\n",
    )


# `millrace`, which gets the signal PRESSED at once when it no longer holds any.
AFTERWARDS = """
import os, signal
from importer.management.terminal.follow.held_ctrl_c import HeldCtrlC

def release_and_press(held, release=HeldCtrlC.release):
    release(held)
    os.kill(os.getpid(), signal.Signals[os.environ["PRESSED"]])

HeldCtrlC.release = release_and_press
from importer.management.command_line.main import main
main()
"""


@pytest.mark.parametrize("pressed", ["SIGTERM", "SIGHUP"])
def test_other_signals_end_a_command_as_ctrl_c_does(tmp_path: Path, pressed: str):
    env = {"PATH": os.environ["PATH"], "VAR_DIR": str(tmp_path), "PRESSED": pressed}
    command = started(AFTERWARDS, ("check", "x.csv", "--json"), env)
    printed, said = command.communicate(timeout=60)
    assert (command.returncode, read(printed)["exit_code"]) == (CANCELLED.exit_code, CANCELLED.exit_code), said
    assert "Traceback" not in said

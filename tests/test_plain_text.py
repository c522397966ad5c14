"""Tests config/plain_text.py: no text from outside begins a line of a log or controls a terminal."""

import logging
import os
import pty
import subprocess
import sys
from contextlib import suppress
from io import StringIO
from pathlib import Path

import pytest

from config.plain_text import LineFormatter, TerminalText, for_terminal, one_line
from tests.stack import ROOT

FORGED = "x.csv\n2026-01-01 00:00:00 INFO importer: all is well"
CONTROLS = "".join(map(chr, (*range(32), *range(127, 160), 0x2028, 0x2029, 0x202E, 0x2066)))


def formatted(message: str, error: Exception | None = None) -> list[str]:
    """The lines of a log with one record."""
    record = logging.LogRecord("importer", logging.WARNING, __file__, 1, "%s: not read", (message,), None)
    if error:
        record.exc_info = (type(error), error, error.__traceback__)
    return LineFormatter("%(asctime)s %(levelname)s %(name)s: %(message)s").format(record).split("\n")


def test_a_name_with_a_line_end_stays_in_its_line():
    [line] = formatted(FORGED)
    assert "x.csv\\n2026-01-01" in line


def test_control_characters_are_shown_as_escapes():
    [line] = formatted(f"a{CONTROLS}z")
    assert line.isprintable()
    assert "\\x1b" in line


def test_texts_in_any_script_stay():
    assert one_line("名前 naïve Ω") == "名前 naïve Ω"


def test_the_message_of_an_exception_begins_no_line():
    first, *others = formatted("job 1", ValueError(FORGED))
    assert "job 1: not read" in first
    assert others
    assert all(line.startswith("    ") for line in others)


def test_a_terminal_gets_lines_and_colours_and_nothing_else():
    assert for_terminal("\x1b[31;1mred\x1b[0m\n\tnext") == "\x1b[31;1mred\x1b[0m\n\tnext"
    assert for_terminal("\x1b]0;title\x07\x1b[2J\rover") == "\\x1b]0;title\\x07\\x1b[2J\\rover"


def test_the_bytes_of_a_file_send_no_codes_to_a_terminal_either():
    shown = StringIO()
    terminal = TerminalText(shown)
    name = "Zoë".encode()
    terminal.buffer.writelines([b"id,n\r\n1,\x1b]0;owned\x07" + name[:-1], name[-1:], b"\n2,\xff\r,"])
    assert shown.getvalue() == "id,n\r\n1,\\x1b]0;owned\\x07Zoë\n2,\\xff\\r,"
    terminal.buffer.write(name[-2:-1])
    terminal.flush()
    assert shown.getvalue().endswith("\\r,\\xc3")


@pytest.mark.parametrize("on_terminal", [True, False])
def test_a_command_sends_no_codes_to_a_terminal(on_terminal: bool, tmp_path: Path):
    env = {"PATH": os.environ["PATH"], "VAR_DIR": str(tmp_path / "var")}
    command = [sys.executable, "manage.py", "target", "check", "\x1b]0;owned\x07"]
    leader, follower = pty.openpty() if on_terminal else os.pipe()
    with subprocess.Popen(command, cwd=ROOT, env=env, stdout=follower, stderr=follower):
        os.close(follower)
        said = read_all(leader)
    assert b"owned" in said
    assert (b"\x1b]" in said) is not on_terminal


def read_all(descriptor: int) -> bytes:
    """All that is written at the other end of a pipe or a terminal."""
    said = b""
    with suppress(OSError), os.fdopen(descriptor, "rb", buffering=0) as end:  # A terminal's end is an error (pty(7)).
        while part := end.read(4096):
            said += part
    return said

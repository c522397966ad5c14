"""Files that a command writes are new, and whole or not there."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from importer.engine.errors import Problem
from importer.management.terminal.new_file import write_new


def broken() -> Iterator[bytes]:
    yield b"1,ann\n"
    raise Problem("The server does not answer.")


def test_a_file_is_written_whole(tmp_path: Path):
    write_new(tmp_path / "a", [b"1\n", b"2\n"])
    assert (tmp_path / "a").read_bytes() == b"1\n2\n"


def test_nothing_is_left_of_a_file_that_could_not_be_finished(tmp_path: Path):
    with pytest.raises(Problem, match="does not answer"):
        write_new(tmp_path / "a", broken())
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_exists_stays_as_it_is(tmp_path: Path):
    (tmp_path / "a").write_text("mine")
    with pytest.raises(Problem, match="There is a file of that name"):
        write_new(tmp_path / "a", [b"1\n"])
    assert (tmp_path / "a").read_text() == "mine"


@pytest.mark.parametrize("path", ["/dev/full/a", "/nowhere/a"])
def test_a_place_that_takes_no_file_is_named(path: str):
    with pytest.raises(Problem, match=rf"{path}: The file cannot be written: .* Choose another place"):
        write_new(Path(path), [b"1\n"])

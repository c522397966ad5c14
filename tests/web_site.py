"""Installations with a real web server and a database of their own, as people reach them."""

import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import psutil
import requests

from importer.engine.mysql.connection import Address, connect
from importer.management.processes.private_servers import free_port
from tests.prepared import copy_static_files, make_tables
from tests.stack import ROOT, wait_until

PASSWORD = "mill-race-9"
# Adds the accounts of an installation.
ACCOUNTS = """
from django.core.management import call_command
from importer.access import people
from importer.models import Role

def add(operators):
    call_command("ensure_admin")
    for name, password in operators.items():
        user = people.add(name, Role.OPERATOR)
        user.set_password(password)
        user.save()
"""
PATIENCE = 60  # seconds for an answer, which a test never measures


def own_database(address: Address) -> str:
    """The URL of an empty database for the application's own tables."""
    with connect(address) as connection:
        connection.cursor().execute(f"ALTER DATABASE `{address.database}` CHARACTER SET utf8mb4")
    user, password = quote(address.user, safe=""), quote(address.password, safe="")
    return f"mysql://{user}:{password}@{address.host}:{address.port}/{address.database}"


@dataclass(frozen=True)
class Place:
    """Where a host is: its address, and the beginning of the command line of each of its processes."""

    address: str = "127.0.0.1"
    inside: tuple[str, ...] = ()


HERE = Place()


class WebSite:
    """A running installation with the account admin, and operators by the names and passwords of `operators`.

    `settings` are environment variables.
    """

    def __init__(
        self, folder: Path, place: Place = HERE, operators: Mapping[str, str] | None = None, **settings: str
    ) -> None:
        self.folder, self.port, self.place = folder, free_port(), place
        self.var_dir, self.log = folder / "var", folder / "web.log"
        self.url = f"http://{place.address}:{self.port}"
        settings = {"BIND": place.address, "ALLOWED_HOSTS": place.address, **settings}
        self._env = {**os.environ, "DJANGO_SETTINGS_MODULE": "tests.site_settings", "VAR_DIR": str(self.var_dir)}
        self._env |= {"ADMIN_PASSWORD": PASSWORD, "PYTHONPATH": str(ROOT), "PORT": str(self.port), **settings}
        make_tables(self.var_dir, self._env.get("DATABASE_URL", ""))
        copy_static_files(self.var_dir / "static")
        self.manage("shell", "--no-imports", "-c", f"{ACCOUNTS}\nadd({dict(operators or {})!r})")

    def manage(self, *command: str) -> None:
        line = [*self.place.inside, sys.executable, "manage.py", *command]
        subprocess.run(line, cwd=ROOT, env=self._env, check=True)

    def start(self) -> None:
        with self.log.open("ab") as log:
            command = [*self.place.inside, sys.executable, "-m", "importer.management.processes", "web"]
            self._process = subprocess.Popen(command, cwd=ROOT, env=self._env, stdout=log, stderr=log)
        wait_until(self.answers, what="the web server")

    def answers(self) -> bool:
        try:
            return requests.get(f"{self.url}/login/", timeout=5).ok
        except requests.RequestException:
            return False

    def ask_to_end(self) -> None:
        """Send the signal by which supervisord stops it, and do not wait."""
        self._process.send_signal(signal.SIGTERM)

    def stop(self) -> int:
        """Stop it as supervisord does; its exit status."""
        self.ask_to_end()
        return self._process.wait(timeout=PATIENCE)

    def kill(self) -> None:
        """Kill it with its children."""
        for process in [psutil.Process(self._process.pid), *self.children()]:
            process.kill()
        self._process.wait(timeout=PATIENCE)

    def children(self) -> list[psutil.Process]:
        """The processes that answer, which the first one has started."""
        return psutil.Process(self._process.pid).children(recursive=True)

    @contextmanager
    def held_up(self) -> Iterator[None]:
        """It accepts connections and answers nobody meanwhile."""
        for process in self.children():
            process.suspend()
        try:
            yield
        finally:
            for process in self.children():
                process.resume()

    def connect(self) -> socket.socket:
        """A connection to the web server."""
        return socket.create_connection((self.place.address, self.port), timeout=PATIENCE)

    def signed_in(self, name: str = "admin", password: str = PASSWORD) -> requests.Session:
        """The browser of somebody who has signed in."""
        browser = requests.Session()
        assert self.sign_in(browser, name, password).status_code == 302
        return browser

    def sign_in(self, browser: requests.Session, name: str, password: str) -> requests.Response:
        """The answer to the form of the sign-in page."""
        page = browser.get(f"{self.url}/login/", timeout=PATIENCE).text
        token = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', page)
        assert token
        form = {"csrfmiddlewaretoken": token[1], "login": name, "password": password}
        return browser.post(f"{self.url}/login/", form, allow_redirects=False, timeout=PATIENCE)


@contextmanager
def running_site(
    folder: Path, place: Place = HERE, operators: Mapping[str, str] | None = None, **settings: str
) -> Iterator[WebSite]:
    """A web site that runs, and is stopped in order at the end; its log must have no error."""
    site = WebSite(folder, place, operators, **settings)
    site.start()
    try:
        yield site
    finally:
        status = site.stop()
    log = site.log.read_text()
    assert status == 0, log
    assert not re.search(r"\bERROR\b", log), log

"""Tries to load a row into the application's own auth_user through every door; runs within an installation."""

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.db import connection as own
from django.test import Client
from django.urls import reverse

from importer import schedules, targets
from importer.engine.errors import Problem
from importer.engine.mysql.connection import connect, execute
from importer.jobs.actions import commands
from importer.models import Schedule, SourceConnection, Target
from importer.preparation import presets
from importer.preparation.prepare import ImportRequest, PreparedImport, prepare
from importer.schedules import ScheduleRequest
from importer.sources import uploads
from importer.targets import TargetUrl
from tests.dashboard.api.program import Program
from tests.importer.schedules.steps import run_now
from tests.importer.steps import run
from tests.people import admin

ROW = (
    "id,password,last_login,is_superuser,username,first_name,last_name,email,is_staff,is_active,date_joined\n"
    "99,x,,1,intruder,a,b,c,1,1,2026-01-01 00:00:00\n"
)
TABLE = "auth_user"


class Intruder:
    """Somebody with a target that was in `data`, a database next to the application's own, where it was right.

    A preset, a schedule and imports were made for it there. Then its address becomes one of the application's own.
    """

    def __init__(self, data: TargetUrl) -> None:
        settings.ALLOWED_HOSTS = ["testserver"]
        folder = Path(tempfile.mkdtemp(dir=settings.VAR_DIR))
        settings.IMPORT_FOLDERS = [str(folder)]
        self._file = folder / "users.csv"
        self._file.write_text(ROW)
        self._data, self._target = data, targets.add_or_replace("warehouse", data)
        with connect(self._target.address) as connection:
            execute(connection, f"CREATE TABLE {TABLE} LIKE `{own.settings_dict['NAME']}`.{TABLE}")
        user = admin("ann")
        self._program, self._browser = Program(user), Client()
        self._browser.force_login(user)
        self._uploaded = self._program.upload(ROW.encode(), "users.csv")
        place = SourceConnection.objects.create(name="incoming", kind="folder", base=str(folder))
        request = ScheduleRequest(name="nightly", connection=place, pattern="*.csv")
        schedules.create(request, presets.save("users", self._prepared()), user)

    def tries(self, name: str, place: TargetUrl) -> Iterator[tuple[str, str]]:
        """Each door with what it says, while the target is at `place`: an address of the application's own database."""
        self._move(self._data)
        planned = commands.create(self._prepared())
        self._move(place)
        doors = (self._command, self._url, self._api, self._page, self._schedule, self._check)
        for door in doors:
            yield f"{name} {door.__name__}", door()
        yield f"{name} worker", str(run(planned).problem)

    def tries_elsewhere(self) -> Iterator[tuple[str, str]]:
        """The same with the target in its right place, and the own table by the name of its database."""
        self._move(self._data)
        table = f"{own.settings_dict['NAME']}.{TABLE}"
        yield "command", self._command(table)
        yield "new table", self._command(f"{own.settings_dict['NAME']}.more", "--mode", "create")
        yield "api", self._api(table)

    def _prepared(self) -> PreparedImport:
        return prepare(uploads.register(self._file), self._target, TABLE, ImportRequest(accept_guesses=True))

    def _move(self, place: TargetUrl) -> None:
        where = {"host": place.host, "port": place.port, "database": place.database}
        Target.objects.filter(pk=self._target.pk).update(**where)
        self._target.refresh_from_db()

    def _command(self, table: str = TABLE, *more: str) -> str:
        return _refused(lambda: self._load("--to", "warehouse", "--table", table, *more))

    def _url(self) -> str:
        to = self._target
        place = f"127.0.0.1:{to.port}" if to.host.startswith("/") else f"{to.host}:{to.port}"
        socket = ["--socket", to.host] if to.host.startswith("/") else []
        return _refused(lambda: self._load(f"mysql://{to.user}@{place}/{to.database}.{TABLE}", *socket))

    def _load(self, *words: str) -> None:
        call_command("import_csv", str(self._file), *words, "--in-process", "--accept-guesses")

    def _api(self, table: str = TABLE) -> str:
        wanted = {"file": self._uploaded, "target": "warehouse", "table": table, "accept_guesses": True}
        return str(self._program.send("POST", "imports", wanted).content.decode())

    def _page(self) -> str:
        values = {"target": str(self._target.pk), "table": TABLE, "accept_guesses": "on"}
        return str(self._browser.post(reverse("start_import", args=[self._uploaded]), values).content.decode())

    def _schedule(self) -> str:
        return str(run_now(Schedule.objects.get()).problem)

    def _check(self) -> str:
        return str(targets.check(self._target))


def _refused(load: Callable[[], None]) -> str:
    try:
        load()
    except (CommandError, Problem) as problem:
        return str(problem)
    return "loaded"


def all_tries(data: dict[str, Any], places: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """What each door says for each place, by the two names; and whether a row came in."""
    intruder = Intruder(TargetUrl(**data))
    said = {door: text for name, place in places.items() for door, text in intruder.tries(name, TargetUrl(**place))}
    said |= intruder.tries_elsewhere()
    return {"said": said, "came_in": User.objects.filter(username="intruder").exists()}

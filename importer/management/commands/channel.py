"""`manage.py channel`: list, add and test channels, over which people are told what happens."""

import json
import os
import secrets
from argparse import ArgumentParser
from collections.abc import Callable
from typing import Any

from django.core.management.base import CommandError

from importer import notifications
from importer.engine.errors import Problem
from importer.management.argument_types import rows
from importer.management.base_command import PreparedCommand
from importer.models import Channel, Schedule
from importer.models.channel import Event
from importer.notifications.channels import with_state


class Command(PreparedCommand):
    help = "List, add and test channels: mail and webhooks that notify people (docs/notifications.md)."

    def add_arguments(self, parser: ArgumentParser) -> None:
        verbs = parser.add_subparsers(dest="verb", required=True, metavar="list|add|subscribe|test")
        verbs.add_parser("list", help="all channels").add_argument("--json", dest="as_json", action="store_true")
        add = verbs.add_parser("add", help="keep a channel under a name")
        add.add_argument("name")
        way = add.add_mutually_exclusive_group(required=True)
        way.add_argument("--mail", nargs="+", metavar="ADDRESS", help="who gets it")
        way.add_argument("--webhook", metavar="URL", help="where it is posted to")
        add.add_argument("--secret-env", metavar="VAR", help="the environment variable that holds a webhook's secret")
        add.add_argument("--private", action="store_true", help="the webhook may lie inside your network")
        events = ", ".join(Event.values)
        add.add_argument(
            "--events", nargs="*", default=Event.values, metavar="EVENT", help=f"of {events}; default: all"
        )
        add.add_argument("--most-rejects", type=rows, default=0, metavar="N", help="rejected rows that are fine (0)")
        add.add_argument("--json", dest="as_json", action="store_true")
        # `hear` is the old name.
        subscribe = verbs.add_parser("subscribe", aliases=["hear"], help="send a channel the events of one schedule")
        subscribe.add_argument("name")
        subscribe.add_argument("schedule", help="its name")
        subscribe.add_argument("--events", nargs="*", default=Event.values, metavar="EVENT", help="none: no longer")
        test = verbs.add_parser("test", help="send a message that says it is a test")
        test.add_argument("name")
        test.add_argument("--json", dest="as_json", action="store_true")

    def handle(self, *_args: Any, verb: str, **options: Any) -> None:
        """Run one verb. What went wrong is one line, without a traceback."""
        try:
            VERBS[verb](self, **options)
        except Problem as problem:
            raise CommandError(str(problem)) from problem

    def _list(self, *, as_json: bool, **_: Any) -> None:
        found = [_as_json(channel) for channel in with_state()]
        if as_json:
            self._write_json(found)
            return
        for each in found:
            state = "on" if each["on"] else "off"
            self.stdout.write(
                f"{each['name']}: {each['kind']} to {', '.join(each['to'])}, {state}, {each['waiting']} waiting,"
                f" {each['given_up']} given up; tells {', '.join(each['events']) or 'nothing of its own'}"
            )

    def _add(self, *, name: str, as_json: bool, **options: Any) -> None:
        if Channel.objects.filter(name=name).exists():
            raise Problem(f"There is a channel {name} already.", advice="Choose another name.")
        kept = {"events": options["events"], "most_rejects": options["most_rejects"]}
        made = ""
        if options["mail"]:
            notifications.save(Channel(name=name, kind=Channel.Kind.MAIL, addresses="\n".join(options["mail"]), **kept))
        else:
            variable = options["secret_env"]
            made = "" if variable else secrets.token_urlsafe(32)
            to = {"url": options["webhook"], "private_allowed": options["private"]}
            webhook = Channel(name=name, kind=Channel.Kind.WEBHOOK, **to, **kept)
            notifications.save(webhook, made or _from_environment(variable))
        if as_json:
            self._write_json({"name": name, **({"secret": made} if made else {})})
            return
        if made:
            self.stdout.write(f"Its secret, which is not shown again: {made}")
        self.stdout.write(f"{name} is added. Next: manage.py channel test {name}")

    def _subscribe(self, *, name: str, schedule: str, events: list[str], **_: Any) -> None:
        found = Schedule.objects.filter(name=schedule).first()
        if found is None:
            known = ", ".join(Schedule.objects.values_list("name", flat=True)) or "none yet"
            raise Problem(f"There is no schedule {schedule}.", advice=f"Schedules: {known}.")
        notifications.subscribe(_channel(name), found, events)
        self.stdout.write(f"{name} is sent for {schedule}: {', '.join(events) or 'nothing of its own'}.")

    def _test(self, *, name: str, as_json: bool, **_: Any) -> None:
        try:
            notifications.test(_channel(name))
            problem = ""
        except Problem as stopped:
            if not as_json:
                raise
            problem = str(stopped)
        if as_json:
            self._write_json({"name": name, "ok": not problem, "problem": problem})
        else:
            self.stdout.write(f"{name} took the test.")
        if problem:
            raise SystemExit(1)

    def _write_json(self, value: Any) -> None:
        self.stdout.write(json.dumps(value, indent=2))


VERBS: dict[str, Callable[..., None]] = {
    "list": Command._list,
    "add": Command._add,
    "subscribe": Command._subscribe,
    "hear": Command._subscribe,
    "test": Command._test,
}


def _from_environment(variable: str) -> str:
    if variable not in os.environ:
        raise Problem(f"There is no environment variable {variable}.", advice="Export it first, with the secret in it.")
    return os.environ[variable]


def _channel(name: str) -> Channel:
    channel = Channel.objects.filter(name=name).first()
    if channel is None:
        known = ", ".join(Channel.objects.order_by("name").values_list("name", flat=True)) or "none yet"
        raise Problem(f"There is no channel {name}.", advice=f"Channels: {known}.")
    return channel


def _as_json(channel: Any) -> dict[str, Any]:
    return {
        **{field: getattr(channel, field) for field in ("name", "kind", "on", "events", "most_rejects")},
        "to": [channel.url] if channel.kind == Channel.Kind.WEBHOOK else channel.address_list,
        "waiting": channel.waiting,
        "given_up": channel.given_up,
        "last_sent": channel.last_sent.isoformat() if channel.last_sent else None,
    }

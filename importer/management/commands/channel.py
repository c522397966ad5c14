"""`millrace channel`: lists, adds, subscribes, tests and removes notification channels."""

import secrets
from argparse import ArgumentParser
from typing import Any

from config.contracts.documents import CHANNEL, CHANNEL_TEST, CHANNELS
from config.contracts.outcomes import UNKNOWN
from importer.access import audit
from importer.access.policy import may_now, seen
from importer.engine.errors import Problem
from importer.engine.units import count_of
from importer.management.argument_types import from_environment, rows
from importer.management.base_command import PreparedCommand
from importer.management.verbs.verb import Context, Verb, named, option
from importer.models import Channel, Level, Schedule
from importer.models.channel import Event
from importer.notifications import channels as notification_channels
from importer.notifications import delivery
from importer.notifications.channel_kinds import KINDS, kind_of
from importer.notifications.channels import with_state


def _list(context: Context) -> None:
    channels = [_as_json(channel) for channel in seen(with_state())]
    context.output.give(CHANNELS, {"channels": channels})
    context.output.write_list(map(_line, channels))


def _add(context: Context) -> None:
    options = vars(context.options)
    name = options["name"]
    if Channel.objects.filter(name=name).exists():
        raise Problem(f"There is a channel {name} already.", advice="Choose another name.")
    kind = next(each for each in KINDS if options[each.name] is not None)
    values = {"events": options["events"], "most_rejects": options["most_rejects"]}
    destination = options[kind.name]
    values[kind.destination.name] = "\n".join(destination) if kind.destination.several else destination
    if "private_allowed" in kind.columns:
        values["private_allowed"] = options["allow_private"]
    variable = options["secret_env"]
    new_secret = secrets.token_urlsafe(32) if kind.secret and not variable else ""
    secret = (new_secret or from_environment(variable)) if kind.secret else None
    notification_channels.save(Channel(name=name, kind=kind.name, **values), secret)
    context.output.give(CHANNEL, {"name": name, **({"secret": new_secret} if new_secret else {})})
    if new_secret:
        context.output.say(f"Its secret, which is not shown again: {new_secret}")
    context.output.say(f"{name} is added. Next: millrace channel test {name}")


def _add_new(add: ArgumentParser) -> None:
    add.add_argument("name", help="a name for it")
    way = add.add_mutually_exclusive_group(required=True)
    for kind in KINDS:
        nargs = "+" if kind.destination.several else None
        way.add_argument(f"--{kind.name}", nargs=nargs, metavar=kind.metavar, help=kind.option_help)
    add.add_argument("--secret-env", metavar="VAR", help="the environment variable that holds a webhook's secret")
    add.add_argument("--allow-private", action="store_true", help="the webhook may lie inside your network")
    events = ", ".join(Event.values)
    add.add_argument(
        "--events",
        nargs="*",
        default=Event.usual(),
        metavar="EVENT",
        help=f"of {events}; default: all except {Event.SUCCEEDED}",
    )
    add.add_argument("--most-rejects", type=rows, default=0, metavar="N", help="allowed rejected rows (0)")


def _subscribe(context: Context) -> None:
    options = context.options
    subscribed = seen(Schedule.objects.filter(name=options.schedule)).first()
    if subscribed is None:
        known = ", ".join(seen(Schedule.objects.all()).values_list("name", flat=True)) or "none yet"
        raise Problem(f"There is no schedule {options.schedule}.", advice=f"Schedules: {known}.")
    notification_channels.subscribe(_channel(options.name), subscribed, options.events)
    context.output.say(
        f"{options.name} is sent for {options.schedule}: {', '.join(options.events) or 'nothing of its own'}."
    )


def _test(context: Context) -> int:
    name, problem = context.options.name, ""
    try:
        notification_channels.test(_channel(name))
    except Problem as stopped:
        if not context.options.as_json:
            raise
        problem = str(stopped)
    context.output.give(CHANNEL_TEST, {"name": name, "ok": not problem, "problem": problem})
    context.output.say(f"{name} accepted the test message.")
    return UNKNOWN if problem else 0


def _send_now(context: Context) -> None:
    channel = _channel(context.options.name)
    waiting = notification_channels.waiting(channel)
    delivery.send_now(channel.pk)
    context.output.say(
        f"A worker sends {count_of(waiting, 'message')} to {channel.name} now, one after another."
        if waiting
        else f"No message waits for {channel.name}."
    )


def _discard(context: Context) -> None:
    channel = _channel(context.options.name)
    discarded = delivery.discard(channel.pk)
    audit.note(discarded=discarded)
    context.output.say(f"{count_of(discarded, 'message')} to {channel.name} discarded. Its page can send each again.")


def _remove(context: Context) -> None:
    waiting = notification_channels.remove(_channel(context.options.name))
    unsent = f" Not sent: {waiting} that waited for it." if waiting else ""
    context.output.say(f"{context.options.name} is removed.{unsent}")


def _line(channel: dict[str, Any]) -> str:
    to, state = f" to {', '.join(channel['to'])}" if channel["to"] else "", "on" if channel["on"] else "off"
    unsent = f"{channel['waiting']} waiting, {channel['given_up']} given up"
    events = ", ".join(channel["events"]) or "nothing of its own"
    return f"{channel['name']}: {channel['kind']}{to}, {state}, {unsent}; is sent: {events}"


def _channel(name: str) -> Channel:
    channel = seen(Channel.objects.filter(name=name)).first()
    if channel is None:
        known = ", ".join(seen(Channel.objects.order_by("name")).values_list("name", flat=True)) or "none yet"
        raise Problem(f"There is no channel {name}.", advice=f"Channels: {known}.")
    return channel


def _as_json(channel: Any) -> dict[str, Any]:
    return {
        **{field: getattr(channel, field) for field in ("name", "kind", "on", "events", "most_rejects")},
        "to": kind_of(channel).describe(channel) if may_now(Level.ADMINISTER, channel) else [],
        "waiting": channel.waiting,
        "given_up": channel.given_up,
        "last_sent": channel.last_sent.isoformat() if channel.last_sent else None,
    }


class Command(PreparedCommand):
    help = "List, add, test and remove channels: mail and webhooks that notify people (docs/notifications.md)."
    verbs = {
        "list": Verb("all channels", _list),
        "add": Verb("save a channel under a name", _add, (_add_new,)),
        "subscribe": Verb(
            "send a channel the events of one schedule",
            _subscribe,
            (
                named("channel"),
                option("schedule", help="its name"),
                option("--events", nargs="*", default=Event.usual(), metavar="EVENT", help="none: no longer"),
            ),
        ),
        "test": Verb("send a message that says it is a test", _test, (named("channel"),)),
        "send-now": Verb("send what waits, without the pauses after failures", _send_now, (named("channel"),)),
        "discard": Verb("give up what waits", _discard, (named("channel"),)),
        "remove": Verb("delete a channel, and what waits for it", _remove, (named("channel"),)),
    }

"""Channels in a file: saved as `millrace channel add` does."""

from collections.abc import Mapping
from typing import Any

from django.db.models import QuerySet

from importer.access import audit
from importer.engine.errors import Problem
from importer.management.apply.kinds.kind import Kind, Wish, without_defaults
from importer.management.apply.yaml_file import SECRET, Hint, Value
from importer.models import Channel
from importer.models.channel import Event
from importer.notifications import channels
from importer.notifications.channel_kind import ChannelKind
from importer.notifications.channel_kinds import KINDS, kind_of


class ChannelsInFile(Kind):
    """The destination under the name of its kind, the other fields that this declares, and those of every channel."""

    section, word = "channels", "channel"
    kept = frozenset({"on"})
    adds, changes, deletes = "channel add", "channel add", "channel remove"

    def hints(self, entries: Mapping[str, Value]) -> Mapping[str, Hint]:
        chosen = [kind for kind in KINDS if kind.name in entries]
        # With none, all keys are known, and state() says what is lacking.
        hints: dict[str, Hint] = {"on": bool, "events": list[str], "most_rejects": int}
        for kind in chosen or KINDS:
            hints[kind.name] = list[str] if kind.destination.several else str
            for field in kind.fields[1:]:
                hints[field.name] = SECRET if field.secret else bool if field.switch else str
        return hints

    def things(self) -> QuerySet[Channel]:
        return Channel.objects.all()

    def state(self, wish: Wish) -> dict[str, Any]:
        chosen = [kind for kind in KINDS if kind.name in wish.given]
        if len(chosen) != 1:
            names = " or ".join(kind.name for kind in KINDS)
            raise Problem(f"A channel has {names}, and one of them only.", advice="Say where its messages go.")
        return _defaults(chosen[0]) | wish.given | {"events": ordered(wish.given.get("events", Event.usual()))}

    def stored(self, thing: Channel) -> dict[str, Any]:
        kind = kind_of(thing)
        to = getattr(thing, kind.destination.name)
        state = {name: getattr(thing, name) for name in _defaults(kind)} | {"events": ordered(thing.events)}
        return {kind.name: to.split() if kind.destination.several else to, **state}

    def secrets(self, thing: Channel) -> dict[str, str]:
        secret = kind_of(thing).secret
        return {secret.name: thing.secret} if secret else {}

    def save(self, thing: Channel | None, wish: Wish, state: dict[str, Any], changed: set[str]) -> Channel:
        [kind] = (each for each in KINDS if each.name in state)
        channel = thing or Channel(name=wish.name, kind=kind.name)
        if channel.kind != kind.name:
            what = f"{channel.name} is a channel of the kind {channel.kind}, which stays."
            raise Problem(what, advice="Choose another name, or delete the channel first.", option=kind.name)
        for name, value in state.items():
            if name != kind.name:
                setattr(channel, name, value)
        to = state[kind.name]
        setattr(channel, kind.destination.name, "\n".join(to) if kind.destination.several else to)
        channels.save(channel, wish.secrets.get(kind.secret.name) if kind.secret else None)
        audit.saved(channel, sorted(changed))
        return channel

    def remove(self, thing: Channel) -> None:
        channels.remove(thing)

    def written(self, thing: Channel) -> dict[str, Any]:
        return without_defaults(self.stored(thing), _defaults(kind_of(thing)))


def ordered(events: list[str]) -> list[str]:
    """Events in the order of their declaration, each once; unknown ones at the end."""
    known = {event: number for number, event in enumerate(Event.values)}
    return sorted(set(events), key=lambda event: (known.get(event, len(known)), event))


def _defaults(kind: ChannelKind) -> dict[str, Any]:
    new = Channel()
    own = {name: getattr(new, name) for name in kind.columns if name != kind.destination.name}
    return {**own, "on": new.on, "events": ordered(Event.usual()), "most_rejects": new.most_rejects}

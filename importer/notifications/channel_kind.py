"""Declares a kind of notification channel: its fields, their checks, and how it sends a message."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from importer.models import Channel


@dataclass(frozen=True)
class ChannelField:
    """One field of a channel. `name` is its column in Channel, except for a secret, which is stored encrypted.

    `check` raises Problem for an invalid text. `switch` marks a field that is on or off; `several` one with several
    values, one per line.
    """

    name: str
    label: str
    help: str = ""
    check: Callable[[str], None] | None = None
    secret: bool = False
    switch: bool = False
    several: bool = False


@dataclass(frozen=True)
class ChannelKind:
    """A kind of channel. Forms, the command and delivery are made from this declaration.

    `name` is stored with each channel and is the command's option that takes the first field, the destination, with
    `metavar` and `option_help`. `label` completes "Add ..."; `title` is the heading of the form of a new channel.
    `require_sendable` takes the values of `columns` by name, each checked already; it raises Problem if every message
    of such a channel would be refused here, before a receiver is asked. `send` takes the channel, the message's key and
    its payload; it raises Problem if the message was not accepted, and returns who of several does not get it, or "".
    `describe` returns the destinations of a channel.
    """

    name: str
    label: str
    title: str
    fields: tuple[ChannelField, ...]
    metavar: str
    option_help: str
    require_sendable: Callable[[Mapping[str, Any]], None]
    send: Callable[[Channel, str, dict[str, Any]], str]
    describe: Callable[[Channel], list[str]]

    @property
    def destination(self) -> ChannelField:
        """The field that says where messages go."""
        return self.fields[0]

    @property
    def secret(self) -> ChannelField | None:
        """The field whose value is stored encrypted, if the kind has one."""
        return next((field for field in self.fields if field.secret), None)

    @property
    def columns(self) -> list[str]:
        """The names of the fields that are stored as they are."""
        return [field.name for field in self.fields if not field.secret]

"""Lists the kinds of notification channels. A new kind is a module of its own and one line here."""

from importer.engine.errors import Problem
from importer.models import Channel
from importer.notifications import email, webhook
from importer.notifications.channel_kind import ChannelKind

# In the order of the pages; the first is a form's default.
KINDS: tuple[ChannelKind, ...] = (
    email.KIND,
    webhook.KIND,
)
BY_NAME = {kind.name: kind for kind in KINDS}


def kind_of(channel: Channel) -> ChannelKind:
    """The channel's kind. Raises Problem if it is not listed."""
    if channel.kind not in BY_NAME:
        raise Problem(f"There is no kind of channel {channel.kind}.", advice=f"There are {', '.join(BY_NAME)}.")
    return BY_NAME[channel.kind]

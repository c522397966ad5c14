"""Why the messages of channels wait."""

from collections.abc import Collection

from django.conf import settings
from django.db.models import Min

from importer.models import Channel, Notification
from importer.notifications.channels import told_problem
from importer.worker.hosts.installation import state

ON_THEIR_WAY = "A worker sends them one after another."


def causes(channels: Collection[Channel]) -> dict[int, str]:
    """Why the messages of each channel wait, in sentences, by its primary key; without those that have none.

    What stops the workers comes first. The oldest message goes first, and the others wait for it.
    """
    waiting = Notification.objects.filter(channel__in=channels, status=Notification.Status.WAITING)
    held = waiting.exclude(problem="").values("channel").annotate(first=Min("pk")).values("first")
    problems = {each.channel_id: told_problem(each) for each in Notification.objects.filter(pk__in=held)}
    system = state()
    stopped = "" if system.serves(settings.CELERY_TASK_DEFAULT_QUEUE) else f"{system.cause}."
    found = {
        each.pk: (stopped, "" if each.on else "The channel is off.", problems.get(each.pk, "")) for each in channels
    }
    of = set(waiting.values_list("channel", flat=True).distinct())
    return {pk: " ".join(filter(None, words)) or ON_THEIR_WAY for pk, words in found.items() if pk in of}

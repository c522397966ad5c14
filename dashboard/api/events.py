"""The events of an import for a listener: what has changed, and in the end its report."""

import json

from django.contrib.auth.models import User
from django.db import InterfaceError, OperationalError, connection
from django.utils import timezone

from config.serving.events import event
from importer.access import policy
from importer.access.acting import acting_as
from importer.jobs import report
from importer.models import AccessToken, ImportJob, Level

# After this number of looks without news the listener's rights are checked again.
LOOKS = 15


class JobEvents:
    """The events of one import for one listener, whose token and rights are checked before anything is sent."""

    def __init__(self, job: int, token: AccessToken, seen: int | None = None) -> None:
        """`seen`: the number of the last event that the listener has got."""
        self._job, self._token, self._version = job, token.pk, seen
        self._without_news = 0
        self.over = False

    def news(self) -> bytes:
        """The event of the present state, if it is another than the last one; b"" otherwise."""
        try:
            return self._news()
        except (OperationalError, InterfaceError):
            connection.close()  # The database was restarted: the next query connects again.
            return self._news()

    def _news(self) -> bytes:
        version = ImportJob.objects.filter(pk=self._job).values_list("version", flat=True).first()
        self._without_news += 1
        if version == self._version and self._without_news < LOOKS:
            return b""
        self._without_news = 0
        job, listener = self._readable(), self._listener()
        if job is None or listener is None or not policy.may(listener, Level.LOOK, job):
            self.over = True
            return b""
        with acting_as(listener):
            return self._event(job)

    def _event(self, job: ImportJob) -> bytes:
        # A job that has ended may still be cleaned up on its target.
        self.over = job.ended and not job.leftover
        if job.version == self._version and not self.over:
            return b""
        self._version = job.version
        if self.over:
            return event("end", json.dumps(report.report(job)), job.version)
        return event("progress", json.dumps(report.figures(job)), job.version)

    def _readable(self) -> ImportJob | None:
        related = ImportJob.objects.select_related("target", "source", "created_by", "approved_by")
        return related.filter(pk=self._job).first()

    def _listener(self) -> User | None:
        """The token's person, if the token is still valid."""
        live = AccessToken.objects.filter(pk=self._token, expires_at__gt=timezone.now(), user__is_active=True)
        token = live.select_related("user__person").first()
        return token.user if token else None

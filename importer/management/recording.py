"""Records a command in the audit log, with its outcome."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.core.management.base import CommandError

from importer.access import audit
from importer.access.policy import Forbidden


@contextmanager
def recorded(name: str, target: str) -> Iterator[None]:
    """Record the command that runs in the block. Its other arguments are left out: some are secrets."""
    thing = audit.Thing("command", name=name, target=target)
    outcome = audit.Outcome.FAILED
    with audit.opened(audit.Entry("command", thing=thing, details={"command": name})) as entry:
        try:
            yield
            outcome = audit.Outcome.DONE
        except SystemExit as end:
            outcome = audit.Outcome.FAILED if end.code else audit.Outcome.DONE
            raise
        except (CommandError, Forbidden) as error:
            refused = isinstance(error, Forbidden) or isinstance(error.__cause__, Forbidden)
            outcome = audit.Outcome.REFUSED if refused else audit.Outcome.FAILED
            raise
        finally:
            audit.write(entry, outcome)

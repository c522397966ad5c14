"""Files of a connection that a person chooses: what lies in a folder of it, the first lines of a file, the file itself.

The policy is the caller's to ask: a person needs the level LOAD on the connection.
"""

from django.utils import timezone

from importer import connections
from importer.access.acting import acting_user
from importer.access.policy import require, seen
from importer.connections import ListedFile
from importer.connections.by_hand.limits import refuse_none, refuse_too_many
from importer.engine.errors import Problem
from importer.models import Level, SourceConnection, SourceFile


def named_connection(name: str) -> SourceConnection:
    """The connection of this name. Raises Problem if the acting person sees none, Forbidden without the level LOAD."""
    known = seen(SourceConnection.objects.all())
    found = known.filter(name=name).first()
    if found is None:
        names = ", ".join(known.order_by("name").values_list("name", flat=True)) or "none"
        raise Problem(f"There is no connection named {name}.", advice=f"Known: {names}.")
    require(Level.LOAD, found)
    return found


def fetch_files(connection: SourceConnection, pattern: str) -> list[SourceFile]:
    """The connection's files that a path or a pattern names, as sources, sorted by name.

    Raises SourceProblem if there is none, or if there are too many, before anything is fetched.
    """
    found = find_files(connection, pattern)
    where = f"{connection.base.rstrip('/')}/{pattern}"
    refuse_none(len(found), where, "Check the name. * and ? stand for characters of one name, never for /.")
    refuse_too_many(len(found), where)
    return [connections.fetch(connection, each, acting_user()) for each in found]


def find_files(connection: SourceConnection, pattern: str) -> list[ListedFile]:
    """The connection's files that match the pattern now, sorted by name. Raises Problem as connections.find() does."""
    return connections.find(connection, pattern, timezone.now(), timezone.get_current_timezone())

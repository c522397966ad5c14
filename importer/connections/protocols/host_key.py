"""The key that an SFTP server shows: nobody signs in there before somebody has compared and confirmed it."""

import re

from importer import connections
from importer.engine.errors import SourceProblem
from importer.engine.preflight.finding import Finding
from importer.models import SourceConnection

NAME = "host key"
FINGERPRINT = re.compile(r"SHA256:[A-Za-z0-9+/]{43}")


def unconfirmed_key_finding(shown: str, known: str) -> Finding:
    """What the check says of a key with the fingerprint `shown`; `known` is the confirmed one's, or ""."""
    what = f"not the one that was confirmed, {known}" if known else "not confirmed yet"
    return Finding(
        NAME,
        "fail",
        f"The server shows the key {shown}, which is {what}.",
        f"Compare it with what the server's owner says (ssh-keygen -lf), then set host_key to {shown}.",
    )


def key_to_confirm(connection: SourceConnection) -> str:
    """The fingerprint that the last check was shown and that nobody has confirmed, or ""."""
    for each in connection.findings:
        if each["name"] == NAME and each["status"] == "fail" and (found := FINGERPRINT.search(each["message"])):
            return found[0]
    return ""


def confirm(connection: SourceConnection, shown: str) -> None:
    """Trust the server's key from now on, and check anew. Raises SourceProblem if the last check saw another one."""
    if not shown or shown != key_to_confirm(connection):
        raise SourceProblem(
            "That is not the key that the last check was shown.", connection.base, "Check again, and compare it anew."
        )
    connection.settings = {**connection.settings, "host_key": shown}
    connection.save(update_fields=["settings"])
    connections.check(connection)

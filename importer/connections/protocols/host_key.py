"""SFTP host keys: Millrace signs in only to a server whose key a person has compared and confirmed."""

import re

from importer.engine.preflight.finding import Finding
from importer.models import SourceConnection

NAME = "host key"
FINGERPRINT = re.compile(r"SHA256:[A-Za-z0-9+/]{43}")


def unconfirmed_key_finding(shown: str, known: str) -> Finding:
    """The finding for a key with the fingerprint `shown`; `known` is the confirmed fingerprint, or ""."""
    what = f"not the one that was confirmed, {known}" if known else "not confirmed yet"
    return Finding(
        NAME,
        "fail",
        f"The server shows the key {shown}, which is {what}.",
        f"Compare it with what the server's owner says (ssh-keygen -lf), then set host_key to {shown}.",
    )


def key_to_confirm(connection: SourceConnection) -> str:
    """The fingerprint from the last check that is not confirmed yet, or ""."""
    for each in connection.findings:
        if each["name"] == NAME and each["status"] == "fail" and (match := FINGERPRINT.search(each["message"])):
            return match[0]
    return ""

"""Declares web servers, over HTTP and HTTPS."""

import re
from collections.abc import Mapping

from importer.connections.connection_kind import (
    TLS_CA,
    USER,
    ConnectionField,
    ConnectionKind,
    ParsedAddress,
    ParsedBase,
)
from importer.engine.errors import Problem
from importer.security.outbound_addresses import parse_web_url

NO_SIGN_IN = "none"
SIGNS_IN = {
    "basic": "User name and password (basic)",
    "bearer": "Token (bearer)",
    "header": "Secret in a header",
}


def _parse(address: ParsedAddress) -> ParsedBase:
    parse_web_url(address.text)
    return ParsedBase(KIND.name, address.text.rstrip("/") + "/")


def _check_header(header: str) -> None:
    if not re.fullmatch(r"[A-Za-z0-9-]*", header):
        raise Problem(f"“{header}” is no header's name: those have letters, digits and - only.")


def _check_password(password: str) -> None:
    if not re.fullmatch(r"[ -~]*", password):
        raise Problem("It has characters that no header can carry.")


def _signs_in(settings: Mapping[str, str]) -> bool:
    return settings.get("auth") in SIGNS_IN


KIND = ConnectionKind(
    name="http",
    label="web server (HTTP, HTTPS)",
    schemes=("http", "https"),
    example="https://HOST/PATH/",
    place_label="Address",
    place_help="https://HOST/PATH/: files are chosen below it, each by its whole name.",
    module="importer.connections.protocols.http",
    parse=_parse,
    fields=(
        ConnectionField("auth", "way to sign in", choices={NO_SIGN_IN: "None", **SIGNS_IN}),
        USER,
        ConnectionField(
            "header",
            "header with the secret",
            "The name of the header, such as X-Api-Key.",
            check=_check_header,
        ),
        ConnectionField("password", "password, token or value of the header", secret=True, check=_check_password),
        TLS_CA,
    ),
    signs_in=_signs_in,
    needs_secret=_signs_in,
    lists=False,
    moves=False,
    deletes=False,
    files_note="A web server gives no list: a schedule names its file, as sales-{date:%Y%m%d}.csv.",
)

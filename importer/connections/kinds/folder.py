"""Declares folders on this server."""

import os

from importer.connections.connection_kind import ConnectionKind, ParsedAddress, ParsedBase
from importer.connections.protocols.folder import root_of


def _parse(address: ParsedAddress) -> ParsedBase:
    folder = os.path.normpath(address.text)
    root_of(folder)
    return ParsedBase(KIND.name, folder)


def _check_place(text: str) -> str:
    return "" if text.startswith("/") else "Write the folder's whole path, from / on."


KIND = ConnectionKind(
    name="folder",
    label="folder on this server",
    schemes=("",),
    example="/FOLDER",
    place_label="Folder",
    place_help="Files below it may be chosen, and no others.",
    module="importer.connections.protocols.folder",
    parse=_parse,
    check_place=_check_place,
    in_place=True,
    local=True,
    files_note="Hidden files, links, unfinished ones and what was written to in the last seconds do not count.",
)

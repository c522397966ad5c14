"""paramiko's SFTP client, also for servers whose names and messages are not UTF-8.

Version 3 of the protocol, which servers speak, does not say how names are encoded. paramiko refuses a whole listing if
one name in it is not UTF-8.
"""

import paramiko
from paramiko.sftp import CMD_NAME, CMD_STATUS
from paramiko.sftp_attr import SFTPAttributes

# Every byte outside of ASCII becomes NUL, which no name contains.
_ASCII = bytes(byte if byte < 0x80 else 0 for byte in range(256))


class SftpClient(paramiko.SFTPClient):  # type: ignore[misc]
    """Gives NUL for the bytes outside of ASCII of names and messages that are not UTF-8."""

    def _read_packet(self) -> tuple[int, bytes]:
        kind, data = super()._read_packet()
        return kind, _in_utf8(kind, data) if kind in (CMD_NAME, CMD_STATUS) else data


def _in_utf8(kind: int, data: bytes) -> bytes:
    """The packet, as long as before, with texts in UTF-8.

    After two numbers, a list of names has a short and a long text and the attributes for each name; a status has its
    message and the name of a language.
    """
    changed, packet = bytearray(data), paramiko.Message(data)
    packet.get_int()
    packet.get_int()
    while packet.packet.tell() < len(data):
        for _ in range(2):
            text = packet.get_string()
            if not _is_utf8(text):
                end = packet.packet.tell()
                changed[end - len(text) : end] = text.translate(_ASCII)
        if kind == CMD_NAME:
            SFTPAttributes._from_msg(packet)
    return bytes(changed)


def _is_utf8(text: bytes) -> bool:
    try:
        text.decode()
    except UnicodeDecodeError:
        return False
    return True

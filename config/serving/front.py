"""The ASGI application in front of the WSGI one: bodies are received in the event loop, and then a thread answers."""

import asyncio
import json
import socket
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack
from dataclasses import dataclass

from config.frames import in_one_piece
from config.serving import errand_process
from config.serving.client import Client, Gone, Message, Pace, Receive, Scope, Send, TooLong, TooSlow, from_thread
from config.serving.errands import ERRAND, Errand, Errands, NoAnswer, NoTurn
from config.serving.events import FEED, HEARTBEAT, HEARTBEAT_SECONDS, TYPE, Feed
from config.serving.intake import ANNOUNCED_TYPES, INTAKE, Ended, Intake, Sink
from config.serving.refusals import API, CONTENT_TYPE, problem_of
from config.serving.shares import PERSON, Shares
from config.serving.wsgi_call import Answer, Application, Environ, environ_of

WRITE_BYTES = 2**18  # bytes of an announced body that are written at once, and so the memory that one takes
WRITERS = 2  # threads that write them
# The most forms longer than SHORT_BYTES that a process receives at a time. They are held in memory.
SHORT_BYTES = 2**16
LONG_FORMS = 32
# Threads that send long answers at the speed of their readers, so that a slow reader delays no page.
STREAMS = 32
LOOKS = 2  # threads that ask for the news of all listeners to events
LISTENERS = 500  # at a time, in each process
# Those who watch over Millrace are answered, however long the pages take.
WATCHED = (b"/healthz", b"/readyz")


@dataclass(frozen=True)
class Limits:
    """What a request may take."""

    threads: int  # that answer, in each process
    pace: Pace
    body_bytes: int  # of a body that is read before a thread is taken
    announced_bytes: int  # of a body that the application lets in
    session_cookie: str  # the name of the cookie that says who somebody is
    errands: int  # that are under way, in each process
    errand_bytes: int  # of memory that each may take
    warm: Callable[[], None] = lambda: None  # imports what errands need


class Front:
    """Serves a WSGI application. A request takes one of its threads only when its body is there."""

    def __init__(self, application: Application, limits: Limits) -> None:
        self._application, self._limits = application, limits
        self._threads = ThreadPoolExecutor(limits.threads, "request")
        self._watched = ThreadPoolExecutor(1, "watched")
        self._errands: Errands | None = None
        self._shares = Shares(max(1, limits.threads // 2), limits.session_cookie)
        self._writers = ThreadPoolExecutor(WRITERS, "writer")
        self._streams = ThreadPoolExecutor(STREAMS, "stream")
        self._looks = ThreadPoolExecutor(LOOKS, "look")
        self._listeners = 0
        self._ending = False
        self._long_forms = asyncio.Semaphore(LONG_FORMS)
        self._running: set[asyncio.Task[None]] = set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            raise NotImplementedError(f"{scope['type']} is not served.")
        client = Client(receive, send, self._limits.pace)
        # The server cancels this call when the client is gone; what a thread has begun must still come to its end.
        task = asyncio.create_task(self._answer(scope, client))
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError:
            client.leave()
            raise

    def start_errands(self, not_for_them: list[socket.socket]) -> None:
        """Have errands answered by processes of their own. Called once in each web process, before its first thread."""
        control = errand_process.start(self._application, self._limits.errand_bytes, self._limits.warm, not_for_them)
        self._errands = Errands(control, self._limits.errands)

    def end_errands(self) -> None:
        """End the process of the errands, and those under way."""
        if self._errands:
            self._errands.end()

    def end_listening(self) -> None:
        """End the answers to all listeners, because the process is to end. They listen again where one runs."""
        self._ending = True

    async def _answer(self, scope: Scope, client: Client) -> None:
        headers = dict(scope["headers"])
        try:
            kind = headers.get(b"content-type", b"").decode("latin-1").partition(";")[0]
            if kind.strip().lower() in ANNOUNCED_TYPES:
                await self._receive_announced(scope, client)
            elif b"content-length" in headers or b"transfer-encoding" in headers:
                await self._receive_first(scope, client, headers.get(b"content-length", b""))
            elif TYPE.encode() in headers.get(b"accept", b""):
                await self._listen(scope, client)
            else:
                await client.send(await self._call(scope, environ_of(scope, b""), client))
        except Gone:
            return

    async def _listen(self, scope: Scope, client: Client) -> None:
        """Let the application answer; then send events until there are no more, or the listener is gone."""
        if self._listeners >= LISTENERS:
            await client.send(_refusal(scope, 503, f"{LISTENERS} listen already. Try again in a minute."))
            return
        feed = Feed()
        answer = await self._call(scope, environ_of(scope, b"") | {FEED: feed}, client)
        if feed.events is None:
            await client.send(answer)
            return
        head = {**answer[0], "headers": [each for each in answer[0]["headers"] if each[0] != b"content-length"]}
        self._listeners += 1
        try:
            await client.send([head])
            await self._send_events(feed, client)
        finally:
            self._listeners -= 1
            feed.held.close()

    async def _send_events(self, feed: Feed, client: Client) -> None:
        loop, events = asyncio.get_running_loop(), feed.events
        assert events
        sent = loop.time()
        while True:
            news = await loop.run_in_executor(self._looks, events.news)
            over = events.over or self._ending
            if not news and loop.time() - sent >= HEARTBEAT_SECONDS:
                news = HEARTBEAT
            if news or over:
                sent = loop.time()
                await client.send([{"type": "http.response.body", "body": news, "more_body": not over}])
            if over:
                return
            await asyncio.sleep(feed.seconds)
            if client.gone:
                raise Gone

    async def _receive_first(self, scope: Scope, client: Client, length: bytes) -> None:
        """Receive a short body, then call the application."""
        most = self._limits.body_bytes
        try:
            if length.isdigit() and int(length) > most:
                raise TooLong
            if length.isdigit() and int(length) <= SHORT_BYTES:
                body = await client.body(most)
            else:
                async with self._long_forms:
                    body = await client.body(most)
        except TooLong:
            await client.send(_refusal(scope, 413, f"The request has more than {most:,} bytes."))
            await client.drop(self._limits.announced_bytes)
        except TooSlow:
            told = "The request arrived too slowly. Send it again over a faster connection."
            await client.send(_refusal(scope, 408, told))
        else:
            await client.send(await self._call(scope, environ_of(scope, body), client))

    async def _receive_announced(self, scope: Scope, client: Client) -> None:
        """Let the application decide by the headers; then write the body to its sink, and call it again."""
        intake = Intake()
        answer = await self._call(scope, environ_of(scope, None) | {INTAKE: intake}, client)
        try:
            if intake.sink:
                intake.ended = await self._write(intake.sink, client)
                answer = await self._call(scope, environ_of(scope, None) | {INTAKE: intake}, client)
        finally:
            if intake.sink:
                intake.sink.close()
        await client.send(answer)
        if intake.ended is not Ended.SLOW:
            await client.drop(self._limits.announced_bytes)

    async def _write(self, sink: Sink, client: Client) -> Ended:
        loop, gathered = asyncio.get_running_loop(), bytearray()
        ended = Ended.WHOLE
        try:
            while not client.whole:
                gathered += await client.piece()
                if len(gathered) >= WRITE_BYTES:
                    if not await loop.run_in_executor(self._writers, sink.write, bytes(gathered)):
                        return Ended.UNWANTED
                    gathered.clear()
        except TooSlow:
            ended = Ended.SLOW
        except Gone:
            ended = Ended.BROKEN
        wanted = not gathered or await loop.run_in_executor(self._writers, sink.write, bytes(gathered))
        return ended if wanted else Ended.UNWANTED

    async def _call(self, scope: Scope, environ: Environ, client: Client) -> list[Message]:
        """Call the application. Returns its answer, or nothing if that was long and has been sent."""
        loop = asyncio.get_running_loop()
        if scope["raw_path"] in WATCHED:
            short, answer = await loop.run_in_executor(self._watched, _begin, self._application, environ)
        else:
            errand = Errand()
            short, answer = await self._call_in_turn(scope, environ | {ERRAND: errand} if self._errands else environ)
            if self._errands and errand.seconds:
                with errand.held:
                    return await self._run(scope, environ, errand, client)
        if answer:
            await loop.run_in_executor(self._streams, _stream, answer, _Turns(self._shares, scope, client), loop)
        return short

    async def _call_in_turn(self, scope: Scope, environ: Environ) -> tuple[list[Message], Answer | None]:
        async with self._shares.taken(scope) as person:
            environ[PERSON] = person
            return await asyncio.get_running_loop().run_in_executor(self._threads, _begin, self._application, environ)

    async def _run(self, scope: Scope, environ: Environ, errand: Errand, client: Client) -> list[Message]:
        """The answer of a process to an errand; if it has none, what the application says about that."""
        assert self._errands
        try:
            return await self._errands.answer(environ, errand, client)
        except NoTurn:
            return _refusal(scope, 503, "Others have as much checked and planned as fits. Try again in a minute.")
        except NoAnswer as ended:
            if client.gone:
                raise Gone from None
            environ["wsgi.input"].seek(0)
            return (await self._call_in_turn(scope, environ | {ERRAND: Errand(ended=ended)}))[0]


@in_one_piece
def _begin(application: Application, environ: Environ) -> tuple[list[Message], Answer | None]:
    """The messages of a short answer, or a long answer that is still to be sent."""
    answer = Answer(application, environ)
    if not answer.is_short:
        return [], answer
    try:
        return answer.whole(), None
    finally:
        answer.close()


class _Turns:
    """The turns in which the thread of a long answer makes its pieces. Each is sent without a share."""

    def __init__(self, shares: Shares, scope: Scope, client: Client) -> None:
        self._shares, self._scope, self._client = shares, scope, client
        self._held = AsyncExitStack()

    async def begin(self) -> None:
        await self._held.enter_async_context(self._shares.taken(self._scope, for_piece=True))

    async def send(self, message: Message) -> None:
        """Send a piece, and wait for the turn of the next one."""
        await self.end()
        await self._client.send([message])
        await self.begin()

    async def end(self) -> None:
        await self._held.aclose()


def _stream(answer: Answer, turns: _Turns, loop: asyncio.AbstractEventLoop) -> None:
    """Send a long answer: each piece is made in turn with the other requests of its person."""
    try:
        from_thread(turns.begin(), loop)
        for message in answer.parts():
            from_thread(turns.send(message), loop)
    finally:
        answer.close()
        from_thread(turns.end(), loop)


def _refusal(scope: Scope, status: int, text: str) -> list[Message]:
    """An answer of the server itself: plain text, or a problem as JSON for the API."""
    of_api = scope["raw_path"].startswith(API.encode())
    body = json.dumps(problem_of(status, text)).encode() if of_api else text.encode()
    kind = CONTENT_TYPE if of_api else "text/plain; charset=utf-8"
    headers = [(b"content-type", kind.encode()), (b"content-length", str(len(body)).encode())]
    return [
        {"type": "http.response.start", "status": status, "headers": headers},
        {"type": "http.response.body", "body": body},
    ]

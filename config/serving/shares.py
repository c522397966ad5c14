"""Shares of the threads that answer: however many requests one person sends at once, others are answered.

Only the application knows whose request it is, and says so in the PERSON of its environ. The front remembers the person
of each cookie and token for the next request. Until then each cookie or token counts as a person of its own.
"""

import asyncio
from collections import OrderedDict, deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from config.serving.client import Scope

PERSON = "millrace.person"  # the key in a WSGI environ
MOST_KNOWN = 10_000  # credentials that are remembered
# Seconds after an answer to a person in which others leave a share free, so that the next page waits for few of them.
KEPT_FREE = 10.0


@dataclass
class Person:
    """Who has sent a request: `name` is set by the application, and stays "" for nobody who is signed in."""

    name: str = ""


@dataclass(eq=False)
class _Share:
    requests: deque[asyncio.Future[None]] = field(default_factory=deque)
    pieces: deque[asyncio.Future[None]] = field(default_factory=deque)
    after_a_request: bool = False
    running: int = 0
    answered: float = 0  # the loop's time

    @property
    def is_waiting(self) -> bool:
        return bool(self.requests or self.pieces)

    def next_turn(self) -> asyncio.Future[None]:
        """Requests and pieces of long answers alternate: of both there may be many, and neither may stop the other."""
        of_pieces = bool(self.pieces) and (self.after_a_request or not self.requests)
        self.after_a_request = not of_pieces
        return (self.pieces if of_pieces else self.requests).popleft()


@dataclass
class Shares:
    """Lets at most `most` requests have a thread at a time, in equal shares of those who send any; each has one.

    Further requests of a person wait, in their order, and so do the pieces of long answers. One more share is left
    free while a person whose name is known may ask again, KEPT_FREE seconds after an answer. `cookie`: the name of the
    cookie that says who somebody is.
    """

    most: int
    cookie: str
    _names: "OrderedDict[bytes, str]" = field(default_factory=OrderedDict)
    _shares: dict[bytes | str, _Share] = field(default_factory=dict)

    @asynccontextmanager
    async def taken(self, scope: Scope, *, for_piece: bool = False) -> AsyncIterator[Person]:
        """A thread's worth of the share of the request's person, from the time that it is free."""
        credentials = self._credentials(scope)
        owner = self._names.get(credentials, credentials)
        share = self._shares.setdefault(owner, _Share())
        turn = asyncio.get_running_loop().create_future()
        waiting = share.pieces if for_piece else share.requests
        waiting.append(turn)
        self._give_turns()
        person = Person()
        try:
            await turn
            yield person
        finally:
            if not turn.cancelled():
                share.running -= 1
            elif turn in waiting:
                waiting.remove(turn)
            share.answered = asyncio.get_running_loop().time()
            self._give_turns()
            self._remember(credentials, person.name)

    def _give_turns(self) -> None:
        most = max(1, self.most // max(1, self._active()))
        for share in self._shares.values():
            while share.is_waiting and share.running < most:
                turn = share.next_turn()
                if not turn.cancelled():
                    turn.set_result(None)
                    share.running += 1

    def _active(self) -> int:
        """Those who ask, and one more if somebody was answered a moment ago. Forgets the shares that nobody needs."""
        since = asyncio.get_running_loop().time() - KEPT_FREE
        idle = [owner for owner, share in self._shares.items() if not share.running and not share.is_waiting]
        for owner in idle:
            # Cookies that nobody knows are easily made by the thousand.
            if isinstance(owner, bytes) or self._shares[owner].answered <= since:
                del self._shares[owner]
        busy = sum(1 for share in self._shares.values() if share.running or share.is_waiting)
        return busy + (len(self._shares) > busy)

    def _remember(self, credentials: bytes, name: str) -> None:
        if not name:
            return
        self._names[credentials] = name
        self._names.move_to_end(credentials)
        if len(self._names) > MOST_KNOWN:
            self._names.popitem(last=False)

    def _credentials(self, scope: Scope) -> bytes:
        """The request's token, or the cookie that says who somebody is; b"" for a request without both."""
        headers = dict(scope["headers"])
        if token := headers.get(b"authorization"):
            return bytes(token)
        begin = f"{self.cookie}=".encode()
        cookies = (each.strip() for each in headers.get(b"cookie", b"").split(b";"))
        return next((each for each in cookies if each.startswith(begin)), b"")

"""Files on a web server, fetched with GET.

Each redirect is resolved, checked and connected to again, and only the checked address is connected to
(security/outbound_addresses.py). Proxy settings of the environment are ignored. Credentials are sent to the
connection's own origin only.
"""

import base64
import http.client
import ssl
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime, parsedate_to_datetime
from urllib.parse import quote, unquote, urljoin, urlsplit

from django.conf import settings
from django.contrib.auth.models import User

from importer.connections import download
from importer.connections.file_pattern import Pattern
from importer.connections.listed_files import ListedFile
from importer.engine.errors import NoConnection, SourceChanged, SourceProblem
from importer.engine.preflight.finding import Finding
from importer.models import SourceConnection, SourceFile
from importer.security import outbound_waits
from importer.security.outbound_addresses import parse_web_url, web_connection

SILENCE = 30.0  # seconds without a byte
MOST_REDIRECTS = 5
REDIRECTS = (301, 302, 303, 307, 308)
GONE = (404, 410)
PARTIAL = 206
SAME_MOMENT, SINCE_LISTED = timedelta(seconds=2), timedelta(minutes=1)
NO_HEAD = (400, 403, 405, 501)
PASSING = (408, 425, 429, 500, 502, 503, 504)
MOST_DIGITS = 18  # of the length of a file
AS_IT_IS = "/%?&=+,;:@!$'()*~"


def open_location(connection: SourceConnection) -> "WebServer":
    return WebServer(connection)


@dataclass(frozen=True)
class Answer:
    """The response to a request for `url`. It can be read while the connection is open."""

    url: str
    response: http.client.HTTPResponse

    def as_listed_file(self, name: str) -> ListedFile:
        header = self.response.headers.get
        return ListedFile(name, self.size, _moment(header("Last-Modified")), (header("ETag") or "")[:255])

    def is_generated(self, listed: ListedFile) -> bool:
        """Whether Last-Modified is the time of each request, as for a report that is made for it.

        RFC 9110, 8.8.2.2: such a time says nothing about the version. A file that was older when it was listed is none.
        """
        sent, modified = _moment(self.response.headers.get("Date")), _moment(self.response.headers.get("Last-Modified"))
        if not (sent and modified and listed.modified_at):
            return False
        return abs(sent - modified) <= SAME_MOMENT and abs(sent - listed.modified_at) <= SINCE_LISTED

    @property
    def size(self) -> int | None:
        length = self.response.headers.get("Content-Length", "")
        return int(length) if length.isdecimal() and len(length) <= MOST_DIGITS else None


class WebServer:
    """The files below the URL `base`."""

    def __init__(self, connection: SourceConnection) -> None:
        self._connection = connection
        self._options, self._secrets = connection.settings, connection.secrets

    def find(self, pattern: Pattern) -> list[ListedFile]:
        """The one file that the pattern names, since a web server has no list of files."""
        if "*" in pattern.text or pattern.subfolders:
            raise SourceProblem(
                "A web server gives no list of its files.",
                pattern.text,
                "Write the whole name; dates in it are filled in, as in sales-{date:%Y%m%d}.csv.",
            )
        for method in ("HEAD", "GET"):
            with self._response(method, pattern.text) as answer:
                if answer.response.status in GONE:
                    return []
                if method == "GET" or answer.response.status not in NO_HEAD:
                    self._require(answer, 200)
                    return [answer.as_listed_file(pattern.text)]
        return []

    def require(self, name: str) -> None:
        """Raise SourceProblem, with the server's answer, unless the server has this file."""
        with self._response("GET", name) as answer:
            self._require(answer, 200)

    def fetch(self, file: ListedFile, user: User | None) -> SourceFile:
        """A copy of the file; the user's latest copy if the server answers 304 (not modified)."""
        before = download.latest_copy(self._connection, file, user)
        with self._response("GET", file.name, _unless_changed(before, file)) as answer:
            unchanged = before and answer.response.status == 304
            if not unchanged:
                self._require(answer, 200)
            if _is_other_version(answer, file):
                raise SourceChanged(
                    "The file has changed since it was found.",
                    answer.url,
                    "Wait until it is complete, then let it be looked for again.",
                    retryable=True,
                )
            if before and unchanged:
                return before
            body, now = Body(answer), answer.as_listed_file(file.name)
            file = replace(file, etag=now.etag, modified_at=now.modified_at)
            path = file.name.partition("?")[0]
            with outbound_waits.own_work():
                return download.copy_stream(self._connection, file, body, answer.size, user, path)

    def folders(self, folder: tuple[str, ...]) -> list[str]:
        """None: a web server gives no list."""
        del folder
        return []

    def seen(self, name: str) -> ListedFile | None:
        return next(iter(self.find(Pattern(name))), None)

    def head(self, file: ListedFile, size: int) -> bytes:
        """The first bytes; a server that knows no ranges sends more, which is not read."""
        with self._response("GET", file.name, {"Range": f"bytes=0-{size - 1}"}) as answer:
            if answer.response.status != PARTIAL:
                self._require(answer, 200)
            with translated_errors(answer.url):
                return answer.response.read(size)

    def check(self) -> Iterator[Finding]:
        with self._response("GET", "") as answer:
            status = answer.response.status
            if status in (401, 403):
                yield Finding(
                    "credentials",
                    "warn",
                    f"The server answers {status} for {answer.url}.",
                    "That is usual where folders give no list; if no file is found either, correct the credentials.",
                )
            elif status in PASSING:
                self._require(answer, 200)
            yield Finding("connection", "ok", f"{urlsplit(answer.url).netloc} answers.")
        if self._connection.base.startswith("http:"):
            yield Finding("encryption", "warn", "Nothing is encrypted on the way.", "Use https:// if the server can.")

    def _url(self, name: str) -> str:
        path = name.partition("?")[0]
        if any(unquote(part) in (".", "..") for part in path.split("/")):
            raise SourceProblem("The name leaves the connection's base.", name, "Write a path below it.")
        return self._connection.base + quote(name, safe=AS_IT_IS)

    @contextmanager
    def _response(self, method: str, name: str, headers: dict[str, str] | None = None) -> Iterator[Answer]:
        """The server's answer, after redirects."""
        url = self._url(name)
        with outbound_waits.talking(url), ExitStack() as opened:
            for _ in range(MOST_REDIRECTS + 1):
                with translated_errors(url):
                    answer = self._asked(method, url, headers or {}, opened)
                to = answer.response.headers.get("Location")
                if answer.response.status not in REDIRECTS or not to:
                    outbound_waits.answered()
                    yield answer
                    return
                opened.close()
                url = _redirected(url, to)
        raise SourceProblem(f"The server redirects more than {MOST_REDIRECTS} times.", url, "Use the last address.")

    def _asked(self, method: str, url: str, headers: dict[str, str], opened: ExitStack) -> Answer:
        """The server's answer to one request. `opened` closes the connection."""
        parts = parse_web_url(url)
        link = web_connection(
            url,
            private_allowed=self._connection.private_allowed,
            seconds=SILENCE,
            tls_ca=self._options.get("tls_ca", ""),
        )
        opened.callback(link.close)
        target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        link.request(method, target, headers=self._headers(url) | headers)
        return Answer(url, link.getresponse())

    def _headers(self, url: str) -> dict[str, str]:
        headers = {"User-Agent": f"Millrace/{settings.VERSION}", "Accept-Encoding": "identity"}
        if _origin(url) != _origin(self._connection.base):
            return headers
        secret = self._secrets.get("password", "")
        how = self._options.get("auth", "")
        if how == "basic":
            pair = f"{self._options.get('user', '')}:{secret}".encode()
            headers["Authorization"] = f"Basic {base64.b64encode(pair).decode()}"
        elif how == "bearer":
            headers["Authorization"] = f"Bearer {secret}"
        elif how == "header":
            headers[self._options.get("header") or "X-Api-Key"] = secret
        return headers

    def _require(self, answer: Answer, status: int) -> None:
        """Raise SourceProblem unless the server answered with this status."""
        seen = answer.response.status
        if seen == status:
            return
        what = f"The server answers {seen} {answer.response.reason[:80]}.".replace(" .", ".")
        advice = {401: "Enter its credentials again.", 403: "Let the account read the file.", 404: "Look at the name."}
        raise SourceProblem(what, answer.url, advice.get(seen, "Ask its administrator."), retryable=seen in PASSING)


class Body:
    """The bytes of an answer. They must match the announced length."""

    def __init__(self, answer: Answer) -> None:
        self._answer = answer
        if answer.size is None and not answer.response.chunked:
            raise SourceProblem(
                "The server does not say how long the file is: a broken connection would look like its end.",
                answer.url,
                "Let it send Content-Length, or chunks (HTTP/1.1).",
            )

    def read(self, size: int, /) -> bytes:
        """Up to `size` bytes, b"" at the end. Raises SourceProblem if the file is incomplete."""
        with outbound_waits.awaiting_file(), translated_errors(self._answer.url):
            piece = self._answer.response.read1(size)
        if not piece and self._answer.response.length:
            raise _broken(self._answer.url, "it ended too early")
        return piece


@contextmanager
def translated_errors(url: str) -> Iterator[None]:
    """Raises errors of the network, TLS and HTTP as SourceProblem."""
    try:
        yield
    except ssl.SSLCertVerificationError as error:
        raise NoConnection(
            f"The server's certificate is not trusted: {error.verify_message}.",
            url,
            "Name the authority that signed it as the connection's CA file.",
        ) from error
    except TimeoutError as error:
        raise _broken(url, f"nothing came for {SILENCE:.0f} s") from error
    except (OSError, UnicodeError, http.client.HTTPException) as error:
        raise _broken(url, getattr(error, "strerror", None) or str(error) or type(error).__name__) from error


def _broken(url: str, why: str) -> NoConnection:
    return NoConnection(f"The file could not be fetched: {why}.", url, "Try again later.", retryable=True)


def _redirected(url: str, to: str) -> str:
    try:
        fresh = urljoin(url, to)
    except ValueError:
        raise SourceProblem("The server redirects to what is no URL.", url, "Ask its administrator.") from None
    if url.startswith("https:") and not fresh.startswith("https:"):
        raise SourceProblem("The server redirects from https to what is not encrypted.", url, "Ask its administrator.")
    return fresh


def _origin(url: str) -> tuple[str, str | None, int | None]:
    parts = urlsplit(url)
    return parts.scheme, parts.hostname, parts.port


def _unless_changed(before: SourceFile | None, file: ListedFile) -> dict[str, str]:
    """The headers of a conditional request: the server sends the file only if it differs from the copy.

    Without an ETag only if the listed file has time and size of the copy: many servers send no file that is older.
    """
    if before and before.found_etag:
        return {"If-None-Match": before.found_etag}
    modified = before and before.found_modified_at
    if before and modified and modified == file.modified_at and file.size in (None, before.size):
        return {"If-Modified-Since": format_datetime(modified.astimezone(UTC), usegmt=True)}
    return {}


def _is_other_version(answer: Answer, listed: ListedFile) -> bool:
    """Whether the file has changed since it was listed: by the ETags, or else by time and size.

    What one of the answers does not say is not compared. A size of 0 is not said: some servers answer HEAD with it.
    """
    now = answer.as_listed_file(listed.name)
    if listed.etag and now.etag:
        return listed.etag != now.etag
    if answer.is_generated(listed):
        return False
    pairs = ((listed.modified_at, now.modified_at), (listed.size, now.size))
    return any(before and after and before != after for before, after in pairs)


def _moment(text: str | None) -> datetime | None:
    try:
        return parsedate_to_datetime(text).astimezone(UTC) if text else None
    except (ValueError, TypeError):
        return None

"""Requests to a Millrace server: signed in by a token, and repeated where that is safe."""

import ipaddress
import ssl
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

import urllib3
from urllib3.exceptions import HTTPError, MaxRetryError

from millrace_client.problems import BUSY, TOO_MUCH, Problem, ServerUnreachable, problem_in
from millrace_client.version import VERSION

CONNECT_SECONDS = 10.0
# Without a byte: of an answer that takes long, such as a plan; and of a stream of events, which has a comment in
# each quarter of a minute (docs/api.md, Events).
SILENT_SECONDS, SILENT_STREAM_SECONDS = 300.0, 60.0
LONGEST_WAIT = 30  # seconds between two tries
TRIES = 5
READING = ("GET", "HEAD")
# What the server asks to send again, and what proxies answer while it starts.
PASSING = (BUSY, TOO_MUCH, 502, 503, 504)
API = "/api/v1"


class Server:
    """A Millrace server, by its address and a token."""

    def __init__(self, address: str, token: str, *, ca_file: str = "", plain_http: bool = False) -> None:
        """`ca_file`: the certificate authorities to trust instead of the system's.

        `plain_http`: the address may be http:// although others can read the token on the way. Raises Problem for an
        address that is none, and for a file without certificates.
        """
        self.address = checked_address(address, plain_http)
        self._token = token
        self._pool = urllib3.PoolManager(ca_certs=_checked_authorities(ca_file) if ca_file else None)

    def send(
        self,
        method: str,
        path: str,
        body: bytes | None = None,
        headers: Mapping[str, str] | None = None,
        *,
        repeatable: bool | None = None,
        streamed: bool = False,
        silent: float | None = None,
    ) -> urllib3.BaseHTTPResponse:
        """The answer to a request, if it is none of a problem.

        `repeatable`: whether it may arrive twice; by default if it only reads. `streamed`: the answer's body is still
        to be read. `silent`: the seconds without a byte after which no answer is expected any more; by default those
        above. Raises ServerProblem, and ServerUnreachable.
        """
        repeats = method in READING if repeatable is None else repeatable
        silent = silent or (SILENT_STREAM_SECONDS if streamed else SILENT_SECONDS)
        try:
            answer = self._pool.request(
                method,
                f"{self.address}{path}",
                body=body,
                headers=self._headers(headers or {}),
                redirect=False,
                retries=_tries() if repeats else False,
                preload_content=not streamed,
                timeout=urllib3.Timeout(connect=CONNECT_SECONDS, read=silent),
            )
            if answer.status >= 300:
                raise problem_in(answer.status, answer.headers, answer.data)
        except HTTPError as error:
            raise self.unreachable(error) from error
        return answer

    def unreachable(self, error: HTTPError) -> ServerUnreachable:
        """The problem of an error of the network, TLS or HTTP."""
        return ServerUnreachable(
            f"The server does not answer: {_words(error)}.",
            self.address,
            "Check the address of the server and the network, and try again.",
            retryable=True,
        )

    def _headers(self, more: Mapping[str, str]) -> dict[str, str]:
        return {"Authorization": f"Bearer {self._token}", "User-Agent": f"millrace/{VERSION}", **more}


def checked_address(address: str, plain_http: bool = False) -> str:
    """The address without a path of the API. Raises Problem if it is none, or others could read the token there."""
    scheme, host = _scheme_and_host(address)
    if scheme == "http" and not plain_http and not _is_this_machine(host):
        raise Problem(
            "Others could read the token on the way to this server.",
            address,
            "Use https://. In a network that you trust: --plain-http, in Python plain_http=True.",
        )
    return address.rstrip("/").removesuffix(API)


def _scheme_and_host(address: str) -> tuple[str, str]:
    if "@" in address:
        # Without the address: it may have a password, and what is printed gets into logs.
        raise Problem(
            "An address of a server has no user and no password.", advice="Leave them out: the token signs in."
        )
    refused = Problem("That is no address of a server.", address, "Write it as https://millrace.example.org.")
    try:
        parts = urlsplit(address)
        port = parts.port
    except ValueError as error:  # Of a port or an IPv6 address.
        raise refused from error
    if parts.scheme not in ("http", "https") or not parts.hostname or port == 0 or parts.query:
        raise refused
    return parts.scheme, parts.hostname


def _checked_authorities(ca_file: str) -> str:
    """The file, if certificates can be read from it. Raises Problem otherwise."""
    try:
        ssl.create_default_context(cafile=ca_file)
    except OSError as error:
        advice = "Name a file with certificates in the PEM format: --ca-file, in Python ca_file."
        raise Problem("No certificates can be read from the file.", ca_file, advice) from error
    return ca_file


def _is_this_machine(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _tries() -> urllib3.Retry:
    return urllib3.Retry(
        TRIES - 1,
        allowed_methods=None,
        status_forcelist=PASSING,
        backoff_factor=0.25,
        backoff_max=LONGEST_WAIT,
        retry_after_max=LONGEST_WAIT,
        raise_on_status=False,
    )


def _words(error: HTTPError) -> str:
    """What went wrong, as the system says it, without the objects of urllib3 around that."""
    cause: Any = error.reason if isinstance(error, MaxRetryError) and error.reason else error
    for each in (*cause.args, cause.__cause__):
        if isinstance(each, ssl.SSLCertVerificationError):
            return f"its certificate is not trusted, {each.verify_message}"
        if isinstance(each, OSError) and each.strerror:
            return each.strerror
    return str(cause).rpartition(": ")[2].rstrip(".") or type(cause).__name__

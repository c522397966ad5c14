"""The bearer in the header of a request, and the answers to one that signs nobody in."""

from django.http import HttpRequest, HttpResponse

SCHEME = "bearer"


def bearer_of(request: HttpRequest) -> str:
    """The text that the request brings as its bearer; "" without one. It may be no token of ours."""
    scheme, _, text = request.headers.get("Authorization", "").partition(" ")
    return text.strip() if scheme.lower() == SCHEME else ""


def wrong_token() -> HttpResponse:
    """The answer to a token that signs nobody in."""
    return unauthorized("The token is unknown, expired or revoked.", 'Bearer error="invalid_token"')


def unauthorized(what: str, challenge: str) -> HttpResponse:
    """An answer 401 with these words. `challenge`: how to sign in (RFC 6750, 3)."""
    answer = HttpResponse(what, status=401, content_type="text/plain; charset=utf-8")
    answer.headers["WWW-Authenticate"] = challenge
    return answer

"""A program that uses the API with a token, by Django's own request handling."""

import base64
import json
from typing import Any

from django.contrib.auth.models import User
from django.test import Client

from importer.access import tokens
from importer.models import Scope

TUS = {"Tus-Resumable": "1.0.0"}
PART = "application/offset+octet-stream"
PART_BYTES = 16 * 2**20
PROBLEM = "application/problem+json"


class Program(Client):
    """Sends a token with each request, and bodies as JSON. It enforces CSRF, as a web server does."""

    def __init__(self, user: User, *scopes: str, name: str = "nightly") -> None:
        text = tokens.make(user, name, 30, scopes or Scope.values)[1]
        super().__init__(enforce_csrf_checks=True, headers={"Authorization": f"Bearer {text}"})
        self.raise_request_exception = False

    def send(self, method: str, path: str, body: Any = None, **headers: str) -> Any:
        """The answer to a request below /api/v1/."""
        sent = {} if body is None else {"data": json.dumps(body), "content_type": "application/json"}
        return self.generic(method, f"/api/v1/{path}", headers=headers, **sent)

    def read(self, path: str) -> Any:
        """The JSON of an answer with the status 200."""
        answer = self.send("GET", path)
        assert answer.status_code == 200, answer.content
        return answer.json()

    def upload(self, content: bytes, name: str = "orders.csv") -> str:
        """Upload a file; its key."""
        metadata = "filename " + base64.b64encode(name.encode()).decode()
        begun = self.send("POST", "uploads", **TUS, **{"Upload-Length": str(len(content)), "Upload-Metadata": metadata})
        assert begun.status_code == 201, begun.content
        for at in range(0, max(1, len(content)), PART_BYTES):
            headers = {**TUS, "Upload-Offset": str(at)}
            part = content[at : at + PART_BYTES]
            answer = self.patch(begun["Location"], part, content_type=PART, headers=headers)
            assert answer.status_code == 204, answer.content
        return str(begun["Location"].rpartition("/")[2])


def problem(answer: Any, status: int) -> dict[str, Any]:
    """The problem that an answer tells, which has all its parts."""
    assert (answer.status_code, answer["Content-Type"]) == (status, PROBLEM), answer.content
    told: dict[str, Any] = answer.json()
    assert told["status"] == status
    parts = {"type", "title", "detail", "code", "what", "where", "advice", "retryable"}
    assert parts <= told.keys()
    assert told["what"]
    return told

"""The values of a rejected row that a browser has sent: it changes some characters of those that nobody has edited."""

import re
from typing import cast

from django.contrib.auth.models import User
from django.http import HttpRequest

from importer.jobs.actions import fixes
from importer.jobs.rejects.rows import RejectedRecord
from importer.models import ImportJob

_LINE_BREAK = re.compile(r"\r\n?")
# What the HTML parser puts in the place of NUL (https://html.spec.whatwg.org/multipage/parsing.html).
_REPLACEMENT = "\ufffd"


def as_sent(text: str) -> str:
    """What a browser sends of a text that nobody has edited, with \\n for each line break.

    The HTML parser replaces NUL, and makes one line break of CR LF and of CR. A text with a line break is shown in a
    textarea (Cell.lines): an input would drop it.
    """
    return _one_line_break(text).replace("\0", _REPLACEMENT)


def sent_texts(request: HttpRequest, job: ImportJob, row: RejectedRecord) -> list[str]:
    """The row's values with those that were sent; one that was sent as it was shown keeps its characters."""
    before = [each.text for each in fixes.cells_of(job, row)]
    if "undo" in request.POST:
        return before
    known = fixes.texts_of(job, cast(User, request.user), row)
    return [
        _kept(request.POST.get(f"value_{number}"), in_file, text)
        for number, (in_file, text) in enumerate(zip(before, known, strict=True))
    ]


def _kept(sent: str | None, in_file: str, known: str) -> str:
    """The text that was sent, or the one that it stands for: that of the file, or that of the person's draft."""
    if sent is None:
        return known
    text = _one_line_break(sent)
    return next((each for each in (in_file, known) if as_sent(each) == text), text)


def _one_line_break(text: str) -> str:
    return _LINE_BREAK.sub("\n", text)

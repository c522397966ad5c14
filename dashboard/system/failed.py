"""The page for a request that failed."""

from django.http import HttpRequest, HttpResponse
from django.template.loader import get_template

from importer.sources.room import fullest_disk


def failed(_request: HttpRequest) -> HttpResponse:
    """The answer 500, with a full disk as the likely reason: then nothing can be stored, and the log is cut, too.

    As Django's own answer, it asks for nothing that may have failed, such as the session.
    """
    return HttpResponse(get_template("500.html").render({"full": _is_full()}), status=500)


def _is_full() -> bool:
    try:
        return fullest_disk().is_full
    except OSError:
        return False

"""The addresses of the pages that messages link to.

They are a contract with receivers. A command that loads a file knows them without importing the pages.
"""

from urllib.parse import quote

from django.conf import settings

PAGES = {
    "job": "jobs/{}/",
    "job_reject_file": "jobs/{}/rejects/",
    "schedule": "schedules/{}/",
    "lab": "labs/{}/",
    "invitation": "invitation/{}/{}/",
}


def link(name: str, *args: object) -> str:
    """The absolute URL of a page, by its name in dashboard/urls.py."""
    path = PAGES[name].format(*(quote(str(each)) for each in args))
    return f"{settings.SITE_URL.rstrip('/')}/{path}"

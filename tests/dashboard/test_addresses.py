"""Numbers in addresses that no table can have: every page answers them like any other that is not there."""

from itertools import product

import pytest
from django.contrib.auth.models import User
from django.urls import reverse
from django.urls.converters import IntConverter

from dashboard import urls
from tests.dashboard.job_data import make_job

pytestmark = pytest.mark.django_db

# Beyond 32 bits, beyond the 64 that a database takes, and far beyond.
LARGE = [2**32, 2**63, 10**40]
NUMBERED = [
    each for each in urls.pages if any(isinstance(kind, IntConverter) for kind in each.pattern.converters.values())
]
NAMES = (
    *("page", "job", "jobs", "lab", "preset", "connection", "target", "seen", "again", "count", "limit"),
    *("every_minutes", "skip_rows"),
)
PLAIN = [
    each.name
    for each in urls.pages
    if not each.pattern.converters and each.name not in ("logout", "healthz", "readyz", "metrics")
]


@pytest.fixture
def staff(client):
    client.force_login(User.objects.create_user("root", is_staff=True, is_superuser=True))
    return client


def test_a_number_that_no_row_can_have_is_not_found(staff):
    for pattern, number in product(NUMBERED, LARGE):
        path = reverse(pattern.name, kwargs=dict.fromkeys(pattern.pattern.converters, number))
        assert {staff.get(path).status_code, staff.post(path).status_code} <= {404, 405}, path


@pytest.mark.parametrize("number", LARGE)
def test_chunks_that_no_import_can_have_are_none(staff, number):
    job = make_job(chunks=3)
    for first, last in ((0, number), (number, number)):
        answer = staff.get(reverse("job_problem_chunks", args=[job.pk, first, last]))
        assert answer.status_code == 200


def test_more_digits_than_python_converts_are_not_found(staff):
    assert staff.get(f"/jobs/{'9' * 5000}/").status_code == 404


def test_a_large_number_behind_the_question_mark_is_no_error(staff):
    make_job(chunks=3)
    for name, number in product(PLAIN, (*LARGE, "9" * 5000, -1)):
        address = f"{reverse(name)}?{'&'.join(f'{each}={number}' for each in NAMES)}&trigger=every&pattern=*"
        assert staff.get(address).status_code < 500, address
    assert "_auth_user_id" in staff.session

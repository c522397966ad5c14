"""Requests made from the API's description: none fails, and each answer is as the description says.

`make requests` sends many more of each operation than a run of all tests does.
"""

import json
import os
from collections.abc import Iterator

import pytest
import schemathesis
from django.core.signals import request_finished, request_started
from django.core.wsgi import get_wsgi_application
from django.db import close_old_connections
from hypothesis import HealthCheck, Phase, settings
from schemathesis.checks import load_all_checks
from schemathesis.config import SchemathesisConfig
from schemathesis.specs.openapi import checks

from dashboard.api.urls import description
from importer.access import tokens
from importer.models import Scope, Target
from tests.dashboard.test_rules import things as things  # noqa: PLC0414 -- a fixture
from tests.people import admin

load_all_checks()


def without_tokens(described):
    """The description without the token that each operation needs: every request here has a right one.

    tests/dashboard/test_rules.py sends each operation requests without a token, and with one that is not for it.
    """
    copy = json.loads(json.dumps(described))
    del copy["components"]["securitySchemes"]
    for operations in copy["paths"].values():
        for operation in operations.values():
            del operation["security"]
    return copy


# Requests of each operation.
REQUESTS = int(os.environ.get("API_REQUESTS", "3"))
# The answers to a request that is as described: what it names may not exist, or not allow it. None is 400, 405 or 415.
ACCEPTED = ["2xx", "401", "403", "404", "409", "413", "422", "423", "424", "429"]
CONFIG = SchemathesisConfig.from_dict({"checks": {"positive_data_acceptance": {"expected-statuses": ACCEPTED}}})
# tus has answers of its own: 412 to a request without its header, 460 to a wrong checksum.
OF_TUS = [checks.missing_required_header, checks.positive_data_acceptance, checks.negative_data_rejection]
schema = schemathesis.openapi.from_dict(without_tokens(description.schema), config=CONFIG)
schema.app = get_wsgi_application()
# One of each kind of thing exists; every other number leads to it.
NUMBERS = {"imports": "ImportJob", "targets": "Target", "schedules": "Schedule", "runs": "ScheduleRun"}
NUMBERS |= {"presets": "MappingPreset", "connections": "SourceConnection", "channels": "Channel", "labs": "Lab"}
NUMBERS |= {"people": "User", "grants": "Grant", "tokens": "AccessToken", "groups": "Group"}
NUMBERS |= {"notices": "Notification", "filters": "SavedFilter"}
# A server that refuses at once: names that nobody has take seconds to look up.
NOBODY = {"host": "127.0.0.1", "port": 1}
NOWHERE = {"place": "https://127.0.0.1:1/in/"}


@pytest.fixture
def text(things, db) -> Iterator[str]:
    """A token of an admin that is for everything. As with Django's own client, a request closes no connection."""
    Target.objects.update(**NOBODY)
    for each in (request_started, request_finished):
        each.disconnect(close_old_connections)
    yield tokens.make(admin("second"), "tries", 1, Scope.values)[1]
    for each in (request_started, request_finished):
        each.connect(close_old_connections)


@schema.parametrize()
@settings(
    # Without the phase `explicit`, which makes 40 requests of each operation.
    max_examples=REQUESTS,
    derandomize=True,
    deadline=None,
    database=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
def test_each_operation(case, text, things):
    kind = NUMBERS.get(case.path.split("/")[3])
    for name in ("id", "job"):
        if kind and isinstance(number := case.path_parameters.get(name), int) and number % 2 == 0:
            case.path_parameters[name] = next(each.pk for each in things.values() if type(each).__name__ == kind)
    for kind, place in (("/targets", NOBODY), ("/connections", NOWHERE)):
        if isinstance(case.body, dict) and kind in case.path and place.keys() & case.body.keys():
            case.body |= place
    headers = {"Authorization": f"Bearer {text}", "Accept-Encoding": "identity"}
    case.call_and_validate(headers=headers, excluded_checks=OF_TUS if "/uploads" in case.path else [])

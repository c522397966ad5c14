"""Places: so many of a kind for each person at a time, whoever ends and however."""

import os
import signal
import subprocess
import sys

import pytest
from django.contrib.auth.models import User

from importer.access import places
from importer.access.limits import PLACES, Places, TooManyAtOnce
from tests.people import operator

pytestmark = pytest.mark.django_db
HOLD = "import fcntl, sys; f = open(sys.argv[1]); fcntl.flock(f, fcntl.LOCK_EX); print('held', flush=True); input()"


@pytest.fixture
def ann() -> User:
    return operator("ann")


@pytest.fixture(params=PLACES, ids=lambda kind: kind.setting)
def kind(request: pytest.FixtureRequest, settings, tmp_path) -> Places:
    """Each kind in turn, two for each person."""
    settings.VAR_DIR = tmp_path
    setattr(settings, request.param.setting, 2)
    return request.param


def test_a_person_has_so_many_and_others_have_their_own(kind: Places, ann: User):
    first, _second = places.take(kind, ann), places.take(kind, ann)
    with pytest.raises(TooManyAtOnce) as refused:
        places.take(kind, ann)
    assert f"2 {kind.things} at once already" in str(refused.value)
    assert f"Try again in {kind.seconds} seconds, or ask an admin to raise {kind.setting}." in str(refused.value)
    assert places.take(kind, operator("ben"))
    assert first
    first.close()
    assert places.take(kind, ann)


def test_without_a_limit_there_are_no_places(kind: Places, ann: User, settings):
    setattr(settings, kind.setting, 0)
    assert [places.take(kind, ann) for _ in range(5)] == [None] * 5


def test_a_killed_process_leaves_its_place(kind: Places, ann: User, settings):
    setattr(settings, kind.setting, 1)
    own = places.take(kind, ann)
    assert own
    own.close()
    (file,) = (settings.VAR_DIR / "run" / kind.setting.lower()).iterdir()
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, file], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout
        assert other.stdout.readline() == "held\n"
        with pytest.raises(TooManyAtOnce):
            places.take(kind, ann)
        os.kill(other.pid, signal.SIGKILL)
    assert places.take(kind, ann)

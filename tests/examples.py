"""The number of examples of a property test: its own number, or ten in the profile "dev" (`make quick`).

No property test has a limit of time for an example: on a busy machine that fails sound code.
"""

from typing import Any

from hypothesis import settings

settings.register_profile("dev", max_examples=10, deadline=None)
settings.register_profile("full", deadline=None)
settings.load_profile("full")


def examples(number: int, **others: Any) -> settings:
    """The settings of a property test: `number` examples, the same in each run, without a time limit."""
    profile = settings.get_current_profile_name()
    most = settings.get_profile(profile).max_examples if profile == "dev" else number
    return settings(max_examples=min(number, most), derandomize=True, deadline=None, **others)

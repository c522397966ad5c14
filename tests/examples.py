"""How many examples a property is tried with: as many as it says, ten of them in the profile "dev" (`make quick`)."""

from typing import Any

from hypothesis import settings

settings.register_profile("dev", max_examples=10)


def examples(number: int, **others: Any) -> settings:
    """The settings of a property: `number` examples, the same ones in each run, however long each takes."""
    profile = settings.get_current_profile_name()
    most = settings.get_profile(profile).max_examples if profile == "dev" else number
    return settings(max_examples=min(number, most), derandomize=True, deadline=None, **others)

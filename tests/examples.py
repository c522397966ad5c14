"""The number of examples of a property test, by hypothesis profile: all of its own number, a sixth, or ten.

"usual" (`make test`) tries a sixth: the examples are the same in each run, so a change of the code is what finds
something. "full" (`make test ARGS=--hypothesis-profile=full`) tries all, for changes to how files are read. "dev"
(`make quick`) tries ten.

No property test has a limit of time for an example: on a busy machine that fails sound code.
"""

from typing import Any

from hypothesis import settings

PROFILES = ("full", "usual", "dev")
for _each in PROFILES:
    settings.register_profile(_each, deadline=None)
settings.load_profile("usual")


def number_of_examples(number: int, usual: int = 0) -> int:
    """How many of a test's examples the present profile tries. `usual`: instead of a sixth."""
    tried = {"full": number, "usual": usual or -(-number // 6), "dev": min(number, 10)}
    return tried[settings.get_current_profile_name()]


def examples(number: int, **others: Any) -> settings:
    """The settings of a property test: of `number` examples as many as the profile tries, the same in each run."""
    return settings(max_examples=number_of_examples(number), derandomize=True, deadline=None, **others)

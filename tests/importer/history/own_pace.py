"""Facts of imports whose pace was not their own: a person, the arrival of their file or other imports set it."""

OTHER_PACE = (
    {"attempts": 2},
    {"pauses": 1},
    {"followed_upload": True},
    {"priority": "low"},
    # Changed while it ran.
    {"planned_parallelism": 32},
)

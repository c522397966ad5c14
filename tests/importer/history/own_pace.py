"""Facts of imports whose pace was not their own: a person, the arrival of their file or other imports set it."""

OTHER_PACE = (
    {"attempts": 2},
    {"pauses": 1},
    {"followed_upload": True},
    # Of a record from before the waits were kept, and with one.
    {"priority": "low"},
    {"priority": "low", "idle_seconds": 5.0},
    # Changed while it ran.
    {"planned_parallelism": 32},
)

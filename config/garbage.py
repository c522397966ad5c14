"""When Python looks for garbage: not while a process starts, and from then on less often than by itself."""

import gc

# New objects after which Python looks. Each query makes more than the usual 700, and leaves next to none.
LOOK_AFTER = 20_000


def pause() -> None:
    """Look for none while modules are imported: none of them is garbage, and the looks take a tenth of a start."""
    gc.disable()


def resume() -> None:
    """Look for it from now on, but never in what is there: processes that are forked share that memory."""
    gc.freeze()
    gc.set_threshold(LOOK_AFTER)
    gc.enable()

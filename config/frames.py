"""Where Python keeps the frames of a thread's calls."""

from collections.abc import Callable
from typing import TypeVar

# Values of 8 bytes. Python takes the next power of two, 1 MiB: half of it is left for the frames of a thousand calls.
PLACES = 66_000
Function = TypeVar("Function", bound=Callable[..., object])


def in_one_piece(function: Function) -> Function:
    """Let all that the function calls, and they in turn, find their frames in one piece of memory.

    Otherwise Python (3.11 to 3.13) maps 16 KiB when there is no room for a frame, and unmaps them as soon as it ends: a
    loop at such a depth does so in each turn. That took a fifth of the time of pages. A piece is as large as its first
    frame needs: therefore the function says that it needs much, which it never touches.
    """
    function.__code__ = function.__code__.replace(co_stacksize=PLACES)
    return function

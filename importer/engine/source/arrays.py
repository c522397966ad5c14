"""The types of the arrays that the engine's parts pass to each other, by what they hold.

As texts, so that numpy is loaded only where an array is made: it takes 16 MB, and many loads need none.
"""

from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

# One-dimensional unless a docstring gives the shape.
Offsets: TypeAlias = "npt.NDArray[np.int64]"  # of bytes; also lengths and numbers of records
Lengths: TypeAlias = "npt.NDArray[np.uint32]"
Mask: TypeAlias = "npt.NDArray[np.bool_]"  # for each record or cell, whether something holds
ByteArray: TypeAlias = "npt.NDArray[np.uint8]"
Words: TypeAlias = "npt.NDArray[np.uint64]"  # eight bytes each, or a bit for each of so many bytes
Keys: TypeAlias = "npt.NDArray[np.uint64 | np.bytes_]"  # of a sort

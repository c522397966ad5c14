"""Type aliases for the numpy arrays of the engine, named by their contents.

The aliases are strings, so that importing them does not import numpy: it takes 16 MB, and many loads need no array.
"""

from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

# One-dimensional unless a docstring gives the shape.
Offsets: TypeAlias = "npt.NDArray[np.int64]"  # in bytes; also used for lengths and record numbers
Lengths: TypeAlias = "npt.NDArray[np.uint32]"
Mask: TypeAlias = "npt.NDArray[np.bool_]"  # one flag for each record or cell
ByteArray: TypeAlias = "npt.NDArray[np.uint8]"
Words: TypeAlias = "npt.NDArray[np.uint64]"  # eight bytes each, or one bit for each of 64 bytes
Keys: TypeAlias = "npt.NDArray[np.uint64 | np.bytes_]"  # sort keys

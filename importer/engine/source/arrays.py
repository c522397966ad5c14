"""numpy, imported with its first use, and type aliases for the engine's arrays, named by their contents.

Importing this module does not import numpy: that takes 16 MB and 0.05 s, and many loads need no array. So the aliases
are strings, and modules take `np` from here.
"""

from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
else:

    class _Numpy:
        """Has what numpy has."""

        def __getattr__(self, name: str) -> Any:
            import numpy

            value = getattr(numpy, name)
            setattr(self, name, value)
            return value

    np = _Numpy()

__all__ = ["ByteArray", "Keys", "Lengths", "Mask", "Offsets", "Words", "np"]

# One-dimensional unless a docstring gives the shape.
Offsets: TypeAlias = "npt.NDArray[np.int64]"  # in bytes; also used for lengths and record numbers
Lengths: TypeAlias = "npt.NDArray[np.uint32]"
Mask: TypeAlias = "npt.NDArray[np.bool_]"  # one flag for each record or cell
ByteArray: TypeAlias = "npt.NDArray[np.uint8]"
Words: TypeAlias = "npt.NDArray[np.uint64]"  # eight bytes each, or one bit for each of 64 bytes
Keys: TypeAlias = "npt.NDArray[np.uint64 | np.bytes_]"  # sort keys

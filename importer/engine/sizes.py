"""Units of bytes."""

MIB = 2**20

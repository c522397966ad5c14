"""The bytes of a chunk on their way to the server."""

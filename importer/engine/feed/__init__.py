"""Produces the bytes of a chunk for the server: reads them, and converts them where the server could not."""

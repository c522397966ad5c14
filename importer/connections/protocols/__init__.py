"""The protocols of a connection, one file each."""

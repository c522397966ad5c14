"""Pages of the connections: places that files are fetched from."""

"""A client of the API (docs/api.md), and `millrace --server`. Nothing here imports Django: the tables are elsewhere."""

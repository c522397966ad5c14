"""The chunks of an import, reduced for its page: `map`, `rates` over time (by `throughput`), and `timings` by phase.

Each is read from the chunks, or from what the import's record keeps once the chunks are deleted (importer.retention).
"""

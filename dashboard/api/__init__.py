"""The API for programs, /api/v1: what the pages do, as JSON. docs/api.md describes it."""

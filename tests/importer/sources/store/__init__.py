"""Tests of the store for files, on a real one (SeaweedFS)."""

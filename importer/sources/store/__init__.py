"""The store: a bucket that keeps the files of several hosts. docs/hosts.md describes it.

Connections to buckets use the same client, errors and ranges.
"""

"""Loads chunks exactly once and proves it."""

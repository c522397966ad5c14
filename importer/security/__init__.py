"""Encryption of stored secrets, and the guard for outbound requests."""

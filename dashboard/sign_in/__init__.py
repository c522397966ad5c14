"""Signing in and out, the limit on guessing, and the pages of one's own account."""

"""The kinds of things that a file of `millrace apply` can have, a file for each. kinds.py lists them."""

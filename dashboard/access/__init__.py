"""The rule of each address, enforced before its view."""

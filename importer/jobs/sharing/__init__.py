"""How imports share the sessions of a target, and workers the hosts that see a file."""

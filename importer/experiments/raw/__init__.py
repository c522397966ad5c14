"""Ways without an import: plain statements over a connection of their own, without checks.

In reading order: target.py; plain_inserts.py with inserts.py; server_copy.py with loads.py; copies.py; single_rows.py;
links.py with slow_link.py.
"""

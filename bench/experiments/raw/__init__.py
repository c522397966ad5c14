"""Ways without an import: plain statements over a connection of their own, without checks.

In reading order: target.py; plain_inserts.py, inserts.py; server_copy.py, loads.py; copies.py; single_rows.py;
routes.py and slow_link.py.
"""

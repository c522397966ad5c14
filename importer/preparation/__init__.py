"""Turns a file, a table and options into a plan: prepare.py; presets.py: stored mappings; plan_sql.py: a plan's SQL."""

"""One file for each explanation that the plan gives."""

"""One file for each decision of the planner."""

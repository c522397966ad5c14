"""Pages of the lab: a new lab, the list, and one lab with its trials and recommendation."""

"""Pages of people, their groups and grants, for admins; and the page on which somebody invited sets a password."""

"""People by the API: who there is, groups and grants, and the account that a token belongs to."""

"""Who may do what: the policy, people, and the audit log."""

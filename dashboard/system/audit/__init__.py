"""The audit log: records requests and signing in, and shows the events to admins."""

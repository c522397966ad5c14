"""The state of each step of a job."""

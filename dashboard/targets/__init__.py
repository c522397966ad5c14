"""Pages of the targets."""

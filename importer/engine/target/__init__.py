"""Changes on the target server that belong to an import, and their reversal."""

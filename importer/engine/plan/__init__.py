"""The values of an import plan: options, the plan itself, what is read back."""

"""The page of a new import: upload, form, preview, plan."""

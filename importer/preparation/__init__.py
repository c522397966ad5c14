"""From a file, a table and options to a plan: preparation, presets, earlier imports."""

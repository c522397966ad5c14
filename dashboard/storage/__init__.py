"""The page Storage: what takes how much, how long things are kept, and one's own files."""

"""The page Room: what takes how much, how long things are kept, and one's own files."""

"""The CSV file: bytes, encoding, dialect, records, profile, chunks."""

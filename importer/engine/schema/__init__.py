"""The target table: columns, keys, foreign keys, dependent objects."""

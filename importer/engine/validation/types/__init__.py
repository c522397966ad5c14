"""The validation rules of each family of column types."""

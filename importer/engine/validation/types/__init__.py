"""The rules of exactness of each family of column types."""

"""Files with a known truth: found ones in `found/`, and ones made in the habits of exporters by made.py."""

"""The connection to a MySQL or MariaDB server, its variables and its error messages."""

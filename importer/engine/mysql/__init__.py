"""The connection to a MySQL or MariaDB server, and what the server says of itself."""

"""Remote files: finds them by a pattern, fetches them, and keeps, moves or deletes them after their import.

operations.py does that. connection_kinds.py lists the kinds of connections, each declared in kinds/. protocols/ has one
module per kind, which implements protocol.py and is imported at its first use, since it needs large libraries;
file_server.py has the common part of SFTP and FTP. connection_settings.py saves connections, connection_address.py
parses their addresses, file_pattern.py the patterns. download.py stores fetched files as uploads. source_location.py
and remote_file.py say where an import reads its bytes.
"""

"""Files that a person names for one import: local paths, patterns, addresses, files of a connection, standard input.

resolve.py turns names into one source. local_files.py finds files on this machine, connection_files.py lists and shows
those of a connection, addresses.py reads https://, s3:// and sftp:// addresses, and standard_input.py stores `-`.
"""

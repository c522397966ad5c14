"""The verbs of the command line that work here and by `--server`, each declared once. Nothing here imports Django.

They read and write the documents of the API's operations, whose names they call. With `--server` a client of the API
answers them, and here the management command (importer/management/commands), on the records themselves.
"""

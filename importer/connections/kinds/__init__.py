"""A declaration for each kind of connection. None of them imports the libraries of its protocol."""

"""How an account signs in: the methods of authentication, and the encryption of the connection."""

"""The bytes of LOAD DATA: through the client library, or by a named pipe that the server reads."""

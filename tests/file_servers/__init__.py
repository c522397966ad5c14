"""Real file servers on loopback for the tests of connections."""

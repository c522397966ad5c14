"""The kinds of servers that speak MySQL's protocol, and how one is recognised."""

"""The variables of a server that an import may set, for its sessions or for the whole server."""

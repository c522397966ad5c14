"""How files arrive: in parts through this server, or straight in the store, and what the page shows."""

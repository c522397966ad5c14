"""What the API has addresses for, a module for each kind of thing."""

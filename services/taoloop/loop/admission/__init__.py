"""How many runs a tenant may have open at the same time."""

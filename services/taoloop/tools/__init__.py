"""Tools: their contracts, the catalogue that holds them, and the schemas and rules compiled from them."""

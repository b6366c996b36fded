"""Plans and the records that travel between the services."""

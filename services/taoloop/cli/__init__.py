"""The `taoloop` command: runs the services and talks to them."""

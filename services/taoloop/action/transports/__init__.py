"""The ways to a tool, one adapter per technology."""

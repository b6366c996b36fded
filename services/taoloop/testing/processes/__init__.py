"""Processes that a test or a demonstration starts beside itself, and that end with it."""

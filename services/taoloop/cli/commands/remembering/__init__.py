"""Commands about what is kept of runs: memory, and the audit record."""

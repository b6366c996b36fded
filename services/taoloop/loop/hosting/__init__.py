"""What a host does beside driving its runs: it keeps their leases, and takes over those of hosts that fell silent."""

"""Jobs that run outside: created, asked for their state, cancelled, under a strict reading of what the tool says."""

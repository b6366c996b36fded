"""What decides whether and how often a step of a plan runs: conditions, and lists that it runs over."""

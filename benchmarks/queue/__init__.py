"""The thought queue: what its hop costs, and what it leaves of a language model's speed."""

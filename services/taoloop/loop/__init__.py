"""The loop service: runs agent tasks by driving thought, action and observation."""

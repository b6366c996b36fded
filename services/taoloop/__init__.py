"""Agent tasks as a loop of typed services: thought, action, observation."""

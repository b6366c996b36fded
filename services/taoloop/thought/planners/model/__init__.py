"""A planner with a language model: the model writes a compact skeleton of pointers, and code makes the plan of it."""

"""The graph planner in processes of its own: it computes beside the event loop, and dies without the worker."""

"""The steps of a plan: in which order they run, and how one becomes a judged result."""

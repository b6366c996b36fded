"""Planning on its own: cases of request, offered tools and right decision, what a planner predicts, its score."""

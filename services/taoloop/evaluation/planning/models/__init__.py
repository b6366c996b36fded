"""A language model on planning cases: asked as the product asks it, with what it said and what that took."""

"""The calls of a plan under construction, what they still lack, and whether they were made before."""

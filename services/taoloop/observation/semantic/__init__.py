"""A semantic validator beside the comparison of values: its contract, its failures, what they never permit."""

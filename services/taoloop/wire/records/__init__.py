"""Records to messages and back: one compiled plan for each pair of classes."""

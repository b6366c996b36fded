"""The planner's three numbers: that the tool fits, that the arguments are right, that a value is missing."""

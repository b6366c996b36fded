"""Doubles of the stores of memory and of who summarises."""

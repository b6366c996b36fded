"""Distils what runs leave: which of it is kept, how it is summed up, and what of it one thought is told."""

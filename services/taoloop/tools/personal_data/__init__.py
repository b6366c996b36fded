"""Finds personal data in texts, by kind and by patterns of one's own, and puts placeholders in its place."""

"""Planners: each turns one request into a plan, a question or a refusal."""

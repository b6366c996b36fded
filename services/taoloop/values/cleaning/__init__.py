"""Texts of tools made clean: for comparing, for prompts, for people."""

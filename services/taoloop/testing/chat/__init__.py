"""Doubles of language models: a server over HTTP, and a model in process."""

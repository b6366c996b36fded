"""Parsers that read one value out of words or data: exactly one reading, or a refusal that names the candidates."""

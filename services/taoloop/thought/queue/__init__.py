"""The queue between front and workers: its entries, its keys, and both sides on Redis or Valkey."""

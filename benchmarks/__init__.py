"""Ratios against named peers: `make bench NAME=…`; docs/benchmarks.md says how to read them."""

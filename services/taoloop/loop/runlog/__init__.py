"""The append-only log of runs: written first, read by whoever takes a run on."""

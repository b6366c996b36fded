"""Which numbers, ids, dates and names of an answer the observations support, by comparing values and nothing else."""

"""The words of a request: clauses, typed spans, and the lists of general words, for Chinese and English."""

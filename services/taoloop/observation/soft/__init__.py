"""The soft check: what the words of a result say, and how late it came; it lowers the confidence and no more."""

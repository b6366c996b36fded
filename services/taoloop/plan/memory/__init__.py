"""What a prompt is told of memory: its words, and the bound that they keep."""

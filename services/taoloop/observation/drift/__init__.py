"""What a tool answers that was never seen of it: found in every answer, remembered since when and how often."""

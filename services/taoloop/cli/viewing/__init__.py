"""What is shown of a run beyond one line for each event."""

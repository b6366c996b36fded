"""What becomes of a failure: a state machine as data, and what carries its reactions out."""

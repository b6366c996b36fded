"""What is decided about a call before, between and after its attempts: pure rules, time passed in."""

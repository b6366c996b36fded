"""What can be checked in a text, one module for each kind of value."""

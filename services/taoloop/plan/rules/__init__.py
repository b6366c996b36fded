"""The rules of the static check, one function each."""

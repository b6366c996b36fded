"""The way of a result that passes every check, which most do: it is judged at once, and any other one carefully."""

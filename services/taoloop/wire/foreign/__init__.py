"""Calls of gRPC services of any make, whose messages are known by their descriptors alone."""

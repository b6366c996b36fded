"""Unary gRPC methods as tools, known by server reflection or by a descriptor set."""

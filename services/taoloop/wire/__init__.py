"""The border to gRPC: codec, server, clients, and the mapping of errors and metadata."""

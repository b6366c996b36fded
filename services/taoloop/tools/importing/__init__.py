"""Contracts drafted from other descriptions of tools: OpenAPI, MCP, gRPC, Python functions."""

"""Redis as part of the wire: streams carry what gRPC carries elsewhere."""

"""What goes over real gRPC."""

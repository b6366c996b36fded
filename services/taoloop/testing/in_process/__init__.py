"""The services that the loop drives, in this process and without a wire between them."""

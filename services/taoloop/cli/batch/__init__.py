"""What commands over many records share: how far they are, and files that are written whole."""

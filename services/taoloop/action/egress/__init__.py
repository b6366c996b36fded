"""Where outgoing connections may go: addresses, URLs and redirects, judged without a connection."""

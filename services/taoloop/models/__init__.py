"""Language models over HTTP: one port, one adapter for every OpenAI-compatible server, and what each of them can do."""

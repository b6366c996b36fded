"""SQL statements as tools: parameterised, bounded, and read-only unless the contract says otherwise."""

"""Generated code: see proto/ and `make proto`."""

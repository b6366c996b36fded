"""`taoloop docs`: pages of the documentation that are generated from the code, in the terminal."""

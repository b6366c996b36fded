"""Functions of installed packages as tools, each called in a worker process that can be killed."""

"""The demonstration: tasks from a file, run end to end and compared with what the file expects."""

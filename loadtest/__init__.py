"""The load tester: open-loop arrivals at a set rate against a running loop service."""

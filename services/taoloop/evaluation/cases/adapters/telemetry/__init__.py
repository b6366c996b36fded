"""What telemetry may show, and how many different things it may show."""

"""What every package needs and no service owns: errors, faults, exact JSON, time, ids, settings, telemetry."""

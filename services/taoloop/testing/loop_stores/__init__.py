"""What the loop keeps beside its log, in memory."""

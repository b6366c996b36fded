"""What the replicas of the action service tell each other about tools: switched off by a person, or out of order."""

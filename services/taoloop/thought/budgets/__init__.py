"""What a thought may cost: prompts counted, replies estimated, and token-seconds reserved for each tenant."""

"""What a contract's normalise rules mean: their places with stars, their conversions and their plug-ins."""

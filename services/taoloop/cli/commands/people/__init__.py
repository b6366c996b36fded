"""Commands for the people that runs wait for."""

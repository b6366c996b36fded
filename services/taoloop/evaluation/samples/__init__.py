"""Recorded exchanges with tools: judged as the services would, checked against contracts, compared between them."""

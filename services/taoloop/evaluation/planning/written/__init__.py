"""Planning cases written by hand: families of tools with requests, calls and what may be left out."""

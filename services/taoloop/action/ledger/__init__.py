"""What keeps a write from happening twice: the ledger of effects and the guard in front of it."""

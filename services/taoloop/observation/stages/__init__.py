"""The stages of an observation: pure functions over plain values that know no catalogue, contract or service."""

"""Plans, references and calls: what belongs to the plan package and the check of plans."""

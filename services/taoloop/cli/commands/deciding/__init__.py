"""The command `taoloop decisions`: the seven decision points of an agent, and how each is set here."""

"""The commands of `taoloop evaluate`."""

"""Programs that judge taoloop: so far the runner of public cases."""

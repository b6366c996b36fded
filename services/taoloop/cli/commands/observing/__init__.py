"""`taoloop observe`: results of tools judged, explained, replayed and put before a planner, from files."""

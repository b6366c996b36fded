"""One thought as a pipeline of stages: route, select, plan, check, repair, expand."""

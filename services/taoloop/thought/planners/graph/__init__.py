"""A planner without a model: it ranks tools by words and points at spans of the request for their arguments."""

from taoloop.thought.planners.graph.planner import GraphPlanner, PlannerReply

__all__ = ["GraphPlanner", "PlannerReply"]

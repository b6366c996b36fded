"""Failures as data: what went wrong inside a run, for the next thought to read."""

from taoloop.core.faults.codes import FaultCode
from taoloop.core.faults.fault import Fault, FaultStage

__all__ = ["Fault", "FaultCode", "FaultStage"]

"""Deployers: build a candidate, serve it, and say with evidence when that cannot be done."""

from runs.adapters.deployers.deployment import Limits
from runs.adapters.deployers.local import LocalDeployer
from runs.adapters.deployers.node import NodeTools, find_node

__all__ = ["Limits", "LocalDeployer", "NodeTools", "find_node"]

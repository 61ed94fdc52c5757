"""Previews: candidates that run for people to try, each on an origin of its own."""

from runs.adapters.previews.manager import Fill, PreviewManager
from runs.adapters.previews.proxy import PreviewProxy
from runs.adapters.previews.states import Preview, PreviewState

__all__ = ["Fill", "Preview", "PreviewManager", "PreviewProxy", "PreviewState"]

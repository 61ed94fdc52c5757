"""Previews: candidates that run for people to try, each on an origin of its own."""

from runs.adapters.previews.manager import Fill, Preview, PreviewManager, PreviewState
from runs.adapters.previews.proxy import PreviewProxy

__all__ = ["Fill", "Preview", "PreviewManager", "PreviewProxy", "PreviewState"]

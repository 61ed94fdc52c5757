"""A manager whose previews are all served at one level of isolation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from runs.adapters.previews import Fill, Preview, PreviewManager
from runs.ports import Deployer


class OneLevel(PreviewManager):
    """Tests of queues, ends and logs do not care at which level a preview is served."""

    def __init__(self, deployer: Deployer, **options: Any) -> None:
        super().__init__(**options)
        self._usual = deployer

    def begin(self, fill: Fill, deploy: Mapping[str, Any], *, key: str, owner: str) -> Preview:
        """Start a preview with the one deployer."""
        return self.start(fill, deploy, key=key, owner=owner, deployer=self._usual)

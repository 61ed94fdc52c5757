"""Deploy each task's candidate in the image that its task names, where the sandbox is one of images."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from runs.adapters.deployers.local import LocalDeployer
from runs.adapters.sandboxes.container import ContainerSandbox
from runs.ports import CancelCheck, ContainedNote, RunningApp, not_noted


@dataclass(frozen=True, slots=True, kw_only=True)
class ImagedDeployer:
    """Passes everything on to `deployer`; without containers the `image` of a task has no meaning."""

    deployer: LocalDeployer

    def serve(
        self,
        folder: Path,
        *,
        deploy: Mapping[str, Any],
        is_cancelled: CancelCheck,
        contained: ContainedNote = not_noted,
    ) -> AbstractContextManager[RunningApp]:
        """Serve as `deployer` does; see there."""
        image, sandbox = deploy.get("image"), self.deployer.sandbox
        chosen = self.deployer
        if image and isinstance(sandbox, ContainerSandbox):
            chosen = replace(chosen, sandbox=sandbox.with_image(str(image)))
        rest = {name: value for name, value in deploy.items() if name != "image"}
        return chosen.serve(folder, deploy=rest, is_cancelled=is_cancelled, contained=contained)

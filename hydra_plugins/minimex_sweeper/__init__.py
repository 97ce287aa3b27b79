"""Hands Hydra's whole sweep to minimex at once. It lives here because Hydra admits sweepers of `hydra_plugins.*` only.

Hydra's scan of plug-ins runs this file before the module is in `sys.modules`: no dataclass here, and nothing heavy, since the scan
runs in every Hydra program of the same environment.
"""

from __future__ import annotations

from typing import Any

from hydra.core.config_store import ConfigStore
from hydra.plugins.sweeper import Sweeper
from hydra.types import HydraContext, TaskFunction
from omegaconf import DictConfig


class MinimexSweeper(Sweeper):
    """Calls the task function once, with the config composed from all that is not swept."""

    def setup(self, *, hydra_context: HydraContext, task_function: TaskFunction, config: DictConfig) -> None:
        self.task_function, self.config = task_function, config

    def sweep(self, arguments: list[str]) -> Any:
        return self.task_function(self.config)


ConfigStore.instance().store(
    group="hydra/sweeper", name="minimex", node={"_target_": "hydra_plugins.minimex_sweeper.MinimexSweeper"}, provider="minimex"
)

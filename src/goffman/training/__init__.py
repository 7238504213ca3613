"""goffman inside programs of others: a model is measured while it is trained.

    from goffman.training import TrainerCallback

    trainer.add_callback(TrainerCallback(trainer, "social-distance", every=500))

``Monitor`` does the same in a training loop of your own.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from goffman.training.callback import TrainerCallback
    from goffman.training.history import History, Measurement
    from goffman.training.monitor import Monitor

__all__ = ["History", "Measurement", "Monitor", "TrainerCallback"]

_FROM = {
    "History": "history",
    "Measurement": "history",
    "Monitor": "monitor",
    "TrainerCallback": "callback",
}
"""The module of each name, which is imported when the name is first used."""


def __getattr__(name: str) -> Any:
    if name not in _FROM:
        raise AttributeError(f"module 'goffman.training' has no attribute '{name}'")
    value = getattr(importlib.import_module(f"{__name__}.{_FROM[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

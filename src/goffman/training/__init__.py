"""goffman inside of what others run: a model is measured while it is trained.

    from goffman.training import TrainerCallback

    trainer.add_callback(TrainerCallback(trainer, "social-distance", every=500))

``Monitor`` is the same for a training loop of one's own.
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
"""Where each name is, which is imported when somebody first asks for it."""


def __getattr__(name: str) -> Any:
    if name not in _FROM:
        raise AttributeError(f"module 'goffman.training' has no attribute '{name}'")
    found = getattr(importlib.import_module(f"{__name__}.{_FROM[name]}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

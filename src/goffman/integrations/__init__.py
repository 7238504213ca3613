"""goffman inside of what others run: a model is measured while it is trained.

    from goffman.integrations import TrainerCallback

    trainer.add_callback(TrainerCallback(trainer, "social-distance", every=500))

``Watch`` is the same for a training loop of one's own.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from goffman.integrations.course import Course, Measured
    from goffman.integrations.trainer import TrainerCallback
    from goffman.integrations.watch import Watch

__all__ = ["Course", "Measured", "TrainerCallback", "Watch"]

_FROM = {
    "Course": "course",
    "Measured": "course",
    "TrainerCallback": "trainer",
    "Watch": "watch",
}
"""Where each name is, which is imported when somebody first asks for it."""


def __getattr__(name: str) -> Any:
    if name not in _FROM:
        raise AttributeError(f"module 'goffman.integrations' has no attribute '{name}'")
    found = getattr(importlib.import_module(f"{__name__}.{_FROM[name]}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

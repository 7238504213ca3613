"""goffman asks language models the questions that psychology asks people about stigma.

The names below are the public interface; ``docs/architecture.md`` shows the stages and folders.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from goffman.api.public import audit, compare, open_run
    from goffman.api.results import Comparison, Estimate, Figure, Run
    from goffman.errors import GoffmanError

__version__ = "0.1.0"

__all__ = [
    "Comparison",
    "Estimate",
    "Figure",
    "GoffmanError",
    "Run",
    "__version__",
    "audit",
    "compare",
    "open_run",
]

_FROM = {
    "Comparison": "api.results",
    "Estimate": "api.results",
    "Figure": "api.results",
    "GoffmanError": "errors",
    "Run": "api.results",
    "audit": "api.public",
    "compare": "api.public",
    "open_run": "api.public",
}
"""The module of each public name, which is imported when the name is first used: torch and polars
take their time to load."""


def __getattr__(name: str) -> Any:
    if name not in _FROM:
        raise AttributeError(f"module 'goffman' has no attribute '{name}'")
    value = getattr(importlib.import_module(f"goffman.{_FROM[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

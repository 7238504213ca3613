"""The tables that Python users get: Polars frames that say what pandas needs."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import polars as pl

from goffman.errors import InputError


class Frame(pl.DataFrame):
    """A Polars frame. ``to_pandas()`` needs the packages pandas and pyarrow."""

    def to_pandas(self, *args: Any, **kwargs: Any) -> Any:
        """The same rows as a pandas frame; InputError where a package for it is missing."""
        missing = [name for name in ("pandas", "pyarrow") if find_spec(name) is None]
        if missing:
            raise InputError(
                f"to_pandas() needs pandas and pyarrow, and {' and '.join(missing)} cannot be "
                "found. Install both: pip install pandas pyarrow"
            )
        return super().to_pandas(*args, **kwargs)

"""About how large a model is, before its weights are read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goffman.models.kinds import kinds
from goffman.models.local import files_of

if TYPE_CHECKING:
    from goffman.models.base import LoadOptions


def parameters_of(spec: str, *, kind: str, options: LoadOptions) -> float:
    """About how many parameters a model has, by its configuration; 1 where that does not say.

    A layer of a transformer of width h has about 12 h²: 4 in its attention, 8 in what follows it.
    """
    if kinds()[kind].takes is not None:
        return 1.0
    from goffman.models.forward import read_config

    files = files_of(spec, weights=False, fetched=options.fetched)
    config = read_config(files, options).get_text_config()
    names = ("num_hidden_layers", "hidden_size", "vocab_size")
    layers, width, words = (getattr(config, name, None) for name in names)
    if not layers or not width:
        return 1.0
    return float(12 * layers * width**2 + (words or 0) * width)

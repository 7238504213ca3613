"""The code that makes a run's numbers: while its digest is the same, results can be used again."""

from __future__ import annotations

import hashlib
import platform
from functools import cache
from importlib.metadata import version
from pathlib import Path

PACKAGES = ("torch", "transformers", "tokenizers", "polars", "numpy", "scipy")
"""The third-party packages that numbers may depend on."""


@cache
def code_digest() -> str:
    """Return a digest of goffman's own code on disk and the versions of all that it depends on."""
    package = Path(__file__).parent.parent
    digest = hashlib.sha256()
    for path in sorted(package.rglob("*.py")):
        digest.update(f"{path.relative_to(package)}\0".encode() + path.read_bytes())
    versions = [platform.platform(), platform.python_version(), *map(version, PACKAGES)]
    digest.update("\0".join(versions).encode())
    return digest.hexdigest()

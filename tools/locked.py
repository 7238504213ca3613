"""Whether requirements.lock has hashes for this Python and processor: `make setup` asks first.

Exit code 0: it has, and nothing else may be installed. 3: it has none, which is said. A wrong hash
is not found out here but by pip, and ends the setup.
"""

from __future__ import annotations

import platform
import sys

TORCH_ON_LINUX = {("3.11", "x86_64")}
"""The Pythons and processors of the torch for CPUs that has a hash in the lock. All other packages,
and torch on macOS, have hashes of every wheel on PyPI."""

MISSING = 3


def missing(system: str, version: str, processor: str) -> str | None:
    """Return the warning that the lock lacks hashes; None: it has them."""
    if system != "linux" or (version, processor) in TORCH_ON_LINUX:
        return None
    known = " or ".join(f"Python {each} on {on}" for each, on in sorted(TORCH_ON_LINUX))
    return (
        f"WARNING: requirements.lock has no hash of torch for Python {version} on {processor} "
        f"under Linux (only for {known}). Installing the versions of constraints.txt without "
        "checking hashes; torch may bring gigabytes of CUDA packages. See CONTRIBUTING.md."
    )


if __name__ == "__main__":
    version = "{}.{}".format(*sys.version_info)
    if said := missing(sys.platform, version, platform.machine()):
        print(said, file=sys.stderr)
        sys.exit(MISSING)

"""What the tests of runs share."""

from __future__ import annotations

import os
import shutil
import subprocess

import pytest


@pytest.fixture
def small_disk(tmp_path):
    """A file system of its own with room for one megabyte."""
    if os.geteuid() != 0 or not shutil.which("mount"):
        pytest.skip("a small file system needs root; the limit on a file's size is tested instead")
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", folder], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("this machine mounts no file system")
    yield folder
    subprocess.run(["umount", "--lazy", folder], check=True)

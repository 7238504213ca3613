"""Threads that wait for each other leave their core to others, unless the user says otherwise."""

import os
import re
import subprocess
import sys

import pytest

DRY = ("audit", "bundled:mini", "--instrument", "care-seeking", "--limit", "2", "--dry-run")
RUN = "import sys; from goffman.cli.main import main; sys.argv[0] = 'goffman'; main()"


def policy(**told):
    """What the OpenMP that torch brings says of itself when it is loaded by a command."""
    unset = {"OMP_WAIT_POLICY", "GOMP_SPINCOUNT", "KMP_BLOCKTIME"}
    ours = {name: value for name, value in os.environ.items() if name not in unset}
    environment = {**ours, "OMP_DISPLAY_ENV": "TRUE", **told}
    done = subprocess.run(
        [sys.executable, "-c", RUN, *DRY],
        capture_output=True,
        text=True,
        env=environment,
        check=True,
    )
    found = re.findall(r"OMP_WAIT_POLICY ?= ?'(\w+)'", done.stdout + done.stderr)
    if not found:
        pytest.skip("this torch has no OpenMP that says how its threads wait")
    assert len(set(found)) == 1
    return found[0].lower()


@pytest.mark.slow
def test_threads_do_not_spin_on_cores_that_others_need():
    assert policy() == "passive"


@pytest.mark.slow
def test_the_user_s_own_policy_stands():
    assert policy(OMP_WAIT_POLICY="active") == "active"

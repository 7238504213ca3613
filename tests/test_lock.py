"""The lock: versions of constraints.txt, a hash of every wheel, all that setup needs; and the SBOM."""

from __future__ import annotations

import ast
import hashlib
import json
import os
import re
import sys
from importlib.metadata import packages_distributions, version
from itertools import chain
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from in_process import process, python
from installed import PROJECT, ROOT, closure, normal

TOOLS = ROOT / "tools"
LINES = (ROOT / "requirements.lock").read_text(encoding="utf-8").replace("\\\n", " ").splitlines()
ENTRIES = [line.split() for line in LINES if not line.startswith(("#", "--"))]

as_locked = pytest.mark.skipif(
    not version("torch").endswith("+cpu"),
    reason="other systems, and Pythons for which the lock has no torch, need other packages",
)


def pins() -> dict[str, str]:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    split = [line.split("==") for line in lines if not line.startswith("#")]
    return {normal(name): version for name, version in split}


def test_every_entry_has_the_version_of_the_constraints_and_a_hash() -> None:
    assert len(ENTRIES) > 100
    for pinned, *rest in ENTRIES:
        name, _, version = pinned.partition("==")
        assert version.removesuffix("+cpu") == pins()[normal(name)], name
        hashes = rest[rest.index("'linux'") + 1 :] if name == "torch" else rest
        assert hashes, name
        assert all(re.fullmatch("--hash=sha256:[0-9a-f]{64}", each) for each in hashes), name
        assert hashes == sorted(set(hashes)), name


def test_the_versions_of_the_constraints_are_among_those_that_goffman_allows() -> None:
    extras = chain.from_iterable(PROJECT["project"]["optional-dependencies"].values())
    for one in map(Requirement, (*PROJECT["project"]["dependencies"], *extras)):
        if one.name not in {"goffman", "minicons"}:  # this one is for make bench alone
            assert pins()[normal(one.name)] in one.specifier, one


def test_nothing_but_names_versions_and_hashes_stands_in_the_lock() -> None:
    """No address: where a file comes from is for pip's settings to say, whether it is right here."""
    others = [line for line in LINES if line.startswith("--")]
    assert others == ["--only-binary :all:"]
    assert not any("/" in line or "@" in line for line in LINES)


def test_linux_gets_the_torch_for_cpus_and_others_that_of_pypi() -> None:
    """PyPI's wheels for Linux would bring gigabytes of CUDA packages, for which there are no hashes."""
    torch = {entry[0]: entry[1:4] for entry in ENTRIES if entry[0].startswith("torch=")}
    assert torch == {
        "torch==2.13.0": [";", "sys_platform", "!="],
        "torch==2.13.0+cpu": [";", "sys_platform", "=="],
    }
    assert not any(re.match("nvidia|cuda|triton", entry[0]) for entry in ENTRIES)


def test_setup_knows_for_which_pythons_the_torch_for_linux_has_a_hash() -> None:
    """One hash for each; whoever adds one to the lock adds it to tools/locked.py."""
    (hashes,) = [entry[5:] for entry in ENTRIES if entry[0].startswith("torch==2.13.0+cpu")]
    program = "import locked; print(*(f'{v} {on}' for v, on in locked.TORCH_ON_LINUX), sep='\\n')"
    known = run(program).split("\n")[:-1]
    assert known == ["3.11 x86_64"]
    assert len(hashes) == len(known)


def test_other_pythons_on_linux_are_warned_and_no_others() -> None:
    def said(*here: str) -> str:
        return run(f"import locked; print(locked.missing{here})").strip()

    assert said("linux", "3.11", "x86_64") == "None"
    assert said("darwin", "3.13", "arm64") == "None"
    for here in (("linux", "3.13", "x86_64"), ("linux", "3.11", "aarch64")):
        assert said(*here) == (
            f"WARNING: requirements.lock has no hash of torch for Python {here[1]} on {here[2]} "
            "under Linux (only for Python 3.11 on x86_64). Installing the versions of "
            "constraints.txt without checking hashes; torch may bring gigabytes of CUDA packages. "
            "See CONTRIBUTING.md."
        )


@pytest.mark.parametrize(
    ("locked", "pip", "made", "hashed", "constrained"),
    [
        (0, 0, True, 1, 0),
        (0, 1, False, 2, 0),  # a wrong hash: asked again with PyTorch's index, then an error
        (3, 0, True, 0, 1),
        (3, 1, False, 0, 1),
        (1, 0, False, 0, 0),  # the check itself failed
    ],
)
def test_setup_checks_hashes_unless_the_lock_has_none_for_this_python(
    locked: int, pip: int, made: bool, hashed: int, constrained: int, tmp_path: Path
) -> None:
    """The Makefile as it is, with a Python that only notes what it is asked."""
    python = tmp_path / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text(
        '#!/bin/sh\necho "$*" >> asked\n'
        f'case "$*" in *locked.py) exit {locked};; *hashes*|*constraint*) exit {pip};; esac\n',
        encoding="utf-8",
    )
    python.chmod(0o755)
    for name in ("Makefile", "pyproject.toml", "requirements.lock"):
        (tmp_path / name).symlink_to(ROOT / name)
    done = process("make", "setup", cwd=tmp_path)
    asked = (tmp_path / "asked").read_text(encoding="utf-8")
    assert (done.returncode == 0) == made == (tmp_path / ".venv" / ".installed").exists()
    assert asked.count("--require-hashes") == hashed
    assert asked.count("--constraint constraints.txt --editable .[dev]") == constrained


@as_locked
def test_the_lock_has_all_that_building_and_developing_needs_and_nothing_else() -> None:
    needed = closure(
        "goffman[dev]", *PROJECT["project"]["dependencies"], *PROJECT["build-system"]["requires"]
    )
    assert {normal(entry[0].partition("==")[0]) for entry in ENTRIES} == needed


def imported(package: Path) -> set[str]:
    """The packages of others that any of the files imports, wherever in it."""
    nodes = [
        node
        for path in package.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    ]
    names = {each.name for node in nodes if isinstance(node, ast.Import) for each in node.names}
    names |= {node.module for node in nodes if isinstance(node, ast.ImportFrom) and node.module}
    return {name.partition(".")[0] for name in names} - {"goffman", *sys.stdlib_module_names}


def test_whatever_goffman_imports_is_declared() -> None:
    """Among the dependencies or, of what is asked for when it is needed, in an extra."""
    extras = PROJECT["project"]["optional-dependencies"]
    users = (extras[name] for name in extras.keys() - {"dev", "docs", "bench"})
    declared = {
        normal(Requirement(one).name)
        for one in (*PROJECT["project"]["dependencies"], *chain.from_iterable(users))
    }
    packages = packages_distributions()
    assert {
        name for name in imported(ROOT / "src") if not declared & {*map(normal, packages[name])}
    } == set()


# ── The script that makes it ───────────────────────────────────────────────────────────────────


def run(program: str, **environment: str) -> str:
    env = {**os.environ, "PIP_CONFIG_FILE": os.devnull, **environment}
    done = python(program, cwd=TOOLS, env=env, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_wheels_are_found_on_every_index_and_in_every_folder(tmp_path: Path) -> None:
    """For every system and Python; no source, no other version, no other package."""
    there = {
        "main": [
            "../../files/My_Package-1.0-cp311-cp311-macosx_14_0_arm64.whl#sha256=" + "a" * 64,
            "../../files/my_package-1.0-py3-none-any.whl#sha256=" + "b" * 64,
            "../../files/my_package-1.0.1-py3-none-any.whl#sha256=" + "c" * 64,
            "../../files/my_package-1.0.tar.gz#sha256=" + "d" * 64,
            "../../files/my_package-1.0-cp312-none-any.whl#md5=" + "e" * 32,
        ],
        "more": ["https://x.invalid/my_package-1.0%2Bcpu-py3-none-any.whl#sha256=" + "f" * 64],
    }
    for index, links in there.items():
        page = tmp_path / index / "my-package" / "index.html"
        page.parent.mkdir(parents=True)
        page.write_text("".join(f'<a href="{link}">…</a>' for link in links), encoding="utf-8")
    wheel = tmp_path / "my_package-1.0+cpu-cp311-cp311-linux_x86_64.whl"
    wheel.write_bytes(b"a wheel")
    (tmp_path / "my_package_more-1.0-py3-none-any.whl").write_bytes(b"another")
    program = "import lock; print(lock.wheels('my-package', '1.0') | lock.wheels('absent', '1.0'))"
    said = run(
        program,
        PIP_INDEX_URL=(tmp_path / "main").as_uri(),
        PIP_EXTRA_INDEX_URL=f"{(tmp_path / 'more').as_uri()} {(tmp_path / 'none').as_uri()}",
        PIP_FIND_LINKS=str(tmp_path),
    )
    built = hashlib.sha256(b"a wheel").hexdigest()
    assert eval(said) == {"1.0": {"a" * 64, "b" * 64}, "1.0+cpu": {"f" * 64, built}}


def test_the_lock_is_read_as_it_is_written() -> None:
    program = (
        "import lock; known = lock.read_lock(); pins = lock.read_pins();"
        "print(lock.HEADER, end='');"
        "print(''.join(''.join(lock.entries(pins[n][0], known[n])) for n in known), end='')"
    )
    assert run(program) == (ROOT / "requirements.lock").read_text(encoding="utf-8")


# ── The SBOM that stands in every wheel ────────────────────────────────────────────────────────


@as_locked
def test_the_sbom_is_that_of_the_lock_and_of_what_is_installed() -> None:
    """After a change of versions or dependencies: make lock. After one of goffman's: make sbom."""
    made = json.loads(run("import json, sbom; print(json.dumps(sbom.sbom()))"))
    assert json.loads((ROOT / "goffman.cdx.json").read_text(encoding="utf-8")) == made

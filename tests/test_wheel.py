"""The wheel: it has what is needed, and runs where there is neither repository nor network."""

from __future__ import annotations

import importlib.metadata
import json
import os
import re
import sys
import zipfile
from pathlib import Path

import pytest

from in_process import process
from installed import PROJECT, ROOT, closure


def run(*command: str, folder: Path, **environment: str) -> str:
    done = process(*command, cwd=folder, env={**os.environ, **environment}, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    pip = (sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation")
    run(*pip, "--wheel-dir", str(folder), str(ROOT), folder=folder)
    (built,) = folder.glob("goffman-*.whl")
    return built


@pytest.mark.slow
def test_the_wheel_holds_every_file_of_the_package(wheel: Path) -> None:
    """Data, page, weights and cards, and nothing besides."""
    tracked = run("git", "ls-files", "src/goffman", folder=ROOT).split()
    held = {name for name in zipfile.ZipFile(wheel).namelist() if name.startswith("goffman/")}
    assert held == {name.removeprefix("src/") for name in tracked}


@pytest.mark.slow
def test_the_wheel_says_what_it_runs_with(wheel: Path) -> None:
    """Every package that goffman needs to run, with its version and the hashes of its wheels."""
    archive = zipfile.ZipFile(wheel)
    (name,) = [name for name in archive.namelist() if ".dist-info/sboms/" in name]
    info = f"goffman-{PROJECT['project']['version']}.dist-info"
    assert name == f"{info}/sboms/goffman.cdx.json"
    bom = json.loads(archive.read(name))
    assert (bom["bomFormat"], bom["specVersion"]) == ("CycloneDX", "1.6")
    metadata = archive.read(f"{info}/METADATA").decode()
    needed = re.findall(r"^Requires-Dist: (?!.*extra ==)(.*)$", metadata, re.MULTILINE)
    assert len(needed) == 18
    components = {component["name"]: component for component in bom["components"]}
    assert components.keys() == closure(*needed)
    lock = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    for name, component in components.items():
        version = importlib.metadata.version(name).removesuffix("+cpu")
        assert component["version"] == version
        assert component["purl"] == f"pkg:pypi/{name}@{version}"
        assert component["licenses"]
        (origin,) = component["externalReferences"]
        told = [each["content"] for each in origin["hashes"]]
        entries = re.findall(rf"(?im)^{name.replace('-', '[-_.]')}==((?:.*\\\n)*.*)", lock)
        assert told == sorted(re.findall(r"sha256:(\w+)", "\n".join(entries)))
        assert told


@pytest.mark.slow
def test_an_audit_runs_from_the_wheel_in_an_empty_folder_without_a_network(
    wheel: Path, tmp_path: Path
) -> None:
    home, empty = tmp_path / "home", tmp_path / "empty"
    home.mkdir()
    empty.mkdir()
    installed = tmp_path / "installed"
    pip = (sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target")
    run(*pip, str(installed), str(wheel), folder=empty)
    # Nothing listens there: whoever tries to reach the network is told so at once.
    nowhere = "http://127.0.0.1:9"
    offline = {
        "PYTHONPATH": str(installed),
        "HOME": str(home),
        "HF_HUB_OFFLINE": "1",
        **dict.fromkeys(("http_proxy", "https_proxy", "all_proxy"), nowhere),
    }
    where = run(
        sys.executable, "-c", "import goffman; print(goffman.__file__)", folder=empty, **offline
    )
    assert Path(where.strip()).is_relative_to(installed)
    main = (sys.executable, "-c", "from goffman.cli.main import main; main()")
    said = run(*main, "audit", "--limit", "12", "--output", "run", folder=empty, **offline)
    assert f"Report   {Path('run/report.html')}" in said
    models = {line.split()[0] for line in said.splitlines() if line.startswith("bundled:")}
    assert models == {"bundled:mini", "bundled:mini-sentiment"}
    assert (empty / "run" / "report.html").stat().st_size > 100_000

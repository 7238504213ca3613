"""requirements.lock: what `make setup` installs, with the sha256 of every wheel: `make lock`.

pip says which packages are needed, constraints.txt says which version of each, and the indexes and
folders that pip is configured with say which wheels there are, for every system and every Python.

Linux gets torch's build for CPUs (2.13.0+cpu), as PyPI's brings gigabytes of CUDA packages. It is
not on PyPI, so its hash stays where the lock is made anew on a machine without that wheel.
"""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys
import tempfile
import tomllib
import urllib.error
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

ROOT = Path(__file__).parents[1]
LOCK = ROOT / "requirements.lock"
CONSTRAINTS = ROOT / "constraints.txt"

Builds = dict[str, set[str]]
"""A version, such as 2.13.0 or 2.13.0+cpu → the sha256 of its wheels."""

HEADER = """\
# Made by `make lock` from constraints.txt: what `make setup` installs, with every wheel's sha256.
# Wheels alone: to build a source, pip would fetch tools for which there are no hashes here.
--only-binary :all:
"""


def main() -> None:
    """Write the lock anew."""
    pins = read_pins()
    known = read_lock()
    names = sorted(needed())
    if missing := [name for name in names if name not in pins]:
        sys.exit(
            f"Not in constraints.txt, but needed: {', '.join(missing)}. Pin them there first. If "
            "these are CUDA packages, pip found no torch for CPUs: see CONTRIBUTING.md."
        )
    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(lambda name: wheels(name, pins[name][1]), names))
    text = HEADER
    for name, builds in zip(names, found, strict=True):
        spelled, version = pins[name]
        for build, hashes in known.get(name, {}).items():
            if _without_build(build) == version:
                builds.setdefault(build, set()).update(hashes)
        if not builds:
            sys.exit(f"{spelled}=={version} has no wheel on any index or in any folder of pip's.")
        text += "".join(entries(spelled, builds))
    LOCK.write_text(text, encoding="utf-8")
    print(f"{LOCK.name}: {len(names)} packages, {text.count('--hash=')} hashes.")


def entries(name: str, builds: Builds) -> Iterator[str]:
    """Return the lines of a package: one entry, or two where Linux gets a build of its own."""
    for build, hashes in sorted(builds.items()):
        where = f" ; sys_platform {'==' if '+' in build else '!='} 'linux'"
        lines = "".join(f" \\\n    --hash=sha256:{each}" for each in sorted(hashes))
        yield f"{name}=={build}{where if len(builds) > 1 else ''}{lines}\n"


def normal(name: str) -> str:
    """Return a package's name as indexes write it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def read_pins() -> dict[str, tuple[str, str]]:
    """Name → the name as constraints.txt spells it, and its version."""
    lines = CONSTRAINTS.read_text(encoding="utf-8").splitlines()
    pins = [line.partition("==") for line in lines if line and not line.startswith("#")]
    return {normal(name): (name, version) for name, _, version in pins}


def read_lock() -> dict[str, Builds]:
    """Name → its versions and their hashes, of the lock that is there."""
    found: dict[str, Builds] = {}
    text = LOCK.read_text(encoding="utf-8") if LOCK.exists() else ""
    for entry in text.replace("\\\n", " ").splitlines():
        if pinned := re.match(r"([\w.-]+)==(\S+)", entry):
            hashes = re.findall(r" --hash=sha256:([0-9a-f]{64})\b", entry)
            found.setdefault(normal(pinned[1]), {})[pinned[2]] = set(hashes)
    return found


def needed() -> set[str]:
    """Return the names of all that building and developing goffman needs, as pip resolves it."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    extras = project["project"]["optional-dependencies"]
    wanted = [*project["build-system"]["requires"], *project["project"]["dependencies"]]
    wanted += _of_extra("dev", extras)
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        pip(
            *("install", "--dry-run", "--ignore-installed", "--quiet", "--only-binary", ":all:"),
            *("--report", str(report), "--constraint", str(CONSTRAINTS), *wanted),
        )
        resolved = json.loads(report.read_text(encoding="utf-8"))["install"]
    return {normal(each["metadata"]["name"]) for each in resolved}


def _of_extra(extra: str, extras: dict[str, list[str]]) -> Iterator[str]:
    for requirement in extras[extra]:
        if own := re.fullmatch(r"goffman\[([\w,]+)\]", requirement):
            for other in own[1].split(","):
                yield from _of_extra(other, extras)
        else:
            yield requirement


def pip(*arguments: str) -> str:
    """Return what pip prints."""
    command = (sys.executable, "-m", "pip", *arguments)
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(done.stderr)
    return done.stdout


def wheels(name: str, version: str) -> Builds:
    """Return every build of this version in any index or folder, with the sha256 of its wheels."""
    found: Builds = {}
    indexes = configured("index-url") or ("https://pypi.org/simple",)
    for index in (*indexes, *configured("extra-index-url")):
        for link in _links(f"{index.rstrip('/')}/{name}/"):
            parts = urlsplit(link)
            build = _build(unquote(parts.path), name)
            if _without_build(build) == version and parts.fragment.startswith("sha256="):
                found.setdefault(build, set()).add(parts.fragment.removeprefix("sha256="))
    for folder in configured("find-links"):
        for wheel in Path(folder).glob("*.whl"):
            build = _build(wheel.name, name)
            if _without_build(build) == version:
                digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
                found.setdefault(build, set()).add(digest)
    return found


@cache
def configured(key: str) -> tuple[str, ...]:
    """Return the addresses that pip is given by its files and the environment."""
    values = re.findall(rf"^.*\.{key}='(.*)'$", pip("config", "list"), re.MULTILINE)
    return tuple(dict.fromkeys(address for value in values for address in value.split()))


def _links(page: str) -> list[str]:
    """Return the links of an index's page; none where the index does not have the package."""
    found: list[str] = []

    class Links(HTMLParser):
        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            found.extend(value for name, value in attrs if tag == "a" and name == "href" and value)

    if page.startswith("file:"):
        page += "index.html"
    try:
        with urllib.request.urlopen(page, timeout=60) as answer:
            Links().feed(answer.read().decode())
    except urllib.error.HTTPError as error:
        if error.code != 404:
            raise
    except urllib.error.URLError:
        if not page.startswith("file:"):
            raise
    return found


def _build(path: str, name: str) -> str:
    """Return the version in the name of a wheel of this package; empty for any other file."""
    named, version, *_ = [*path.rpartition("/")[2].split("-"), ""]
    return version if path.endswith(".whl") and normal(named) == name else ""


def _without_build(version: str) -> str:
    """2.13.0, of 2.13.0+cpu."""
    return version.partition("+")[0]


if __name__ == "__main__":
    main()

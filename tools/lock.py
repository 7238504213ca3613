"""requirements.lock: what `make setup` installs, with the sha256 of every wheel: `make lock`.

pip says which packages are needed, constraints.txt says which version of each, and the indexes and
folders that pip is configured with say which wheels there are, for every system and every Python. A
hash that the lock has already for the same version stays, even where no index here has that wheel:
PyTorch's builds for CPUs are not on PyPI.
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
        sys.exit(f"Not in constraints.txt, but needed: {', '.join(missing)}. Pin them there first.")
    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(lambda name: hashes(name, pins[name][1]), names))
    text = HEADER
    for name, of_name in zip(names, found, strict=True):
        spelled, version = pins[name]
        before, kept = known.get(name, ("", ()))
        every = sorted({*of_name, *(kept if before == version else ())})
        if not every:
            sys.exit(f"{spelled}=={version} has no wheel on any index or in any folder of pip's.")
        text += f"{spelled}=={version}"
        text += "".join(f" \\\n    --hash=sha256:{each}" for each in every) + "\n"
    LOCK.write_text(text, encoding="utf-8")
    print(f"{LOCK.name}: {len(names)} packages, {text.count('--hash=')} hashes.")


def normal(name: str) -> str:
    """A package's name as indexes write it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def read_pins() -> dict[str, tuple[str, str]]:
    """Name → the name as constraints.txt spells it, and its version."""
    lines = CONSTRAINTS.read_text(encoding="utf-8").splitlines()
    pins = [line.partition("==") for line in lines if line and not line.startswith("#")]
    return {normal(name): (name, version) for name, _, version in pins}


def read_lock() -> dict[str, tuple[str, list[str]]]:
    """Name → version and hashes, of the lock that is there."""
    text = LOCK.read_text(encoding="utf-8") if LOCK.exists() else ""
    entries = re.findall(r"^([\w.-]+)==([^\s\\]+)((?:\s*\\\n\s+--hash=\S+)+)", text, re.MULTILINE)
    return {
        normal(name): (version, re.findall(r"--hash=sha256:([0-9a-f]{64})\b", rest))
        for name, version, rest in entries
    }


def needed() -> set[str]:
    """The names of everything that building and developing goffman needs, as pip resolves it."""
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
    """What pip prints."""
    command = (sys.executable, "-m", "pip", *arguments)
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(done.stderr)
    return done.stdout


def hashes(name: str, version: str) -> set[str]:
    """The sha256 of every wheel of this version that any index or folder has."""
    found = set()
    indexes = configured("index-url") or ("https://pypi.org/simple",)
    for index in (*indexes, *configured("extra-index-url")):
        for link in _links(f"{index.rstrip('/')}/{name}/"):
            parts = urlsplit(link)
            if _is_of(unquote(parts.path), name, version) and parts.fragment.startswith("sha256="):
                found.add(parts.fragment.removeprefix("sha256="))
    for folder in configured("find-links"):
        for wheel in Path(folder).glob("*.whl"):
            if _is_of(wheel.name, name, version):
                found.add(hashlib.sha256(wheel.read_bytes()).hexdigest())
    return found


@cache
def configured(key: str) -> tuple[str, ...]:
    """The addresses that pip is given by its files and the environment."""
    values = re.findall(rf"^.*\.{key}='(.*)'$", pip("config", "list"), re.MULTILINE)
    return tuple(dict.fromkeys(address for value in values for address in value.split()))


def _links(page: str) -> list[str]:
    """The links of an index's page; none where the index does not have the package."""
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


def _is_of(path: str, name: str, version: str) -> bool:
    """Whether a path is that of a wheel of this version; 2.13.0+cpu is a build of 2.13.0."""
    named, _, rest = path.rpartition("/")[2].partition("-")
    of_version = rest.partition("-")[0].partition("+")[0] == version
    return path.endswith(".whl") and normal(named) == name and of_version


if __name__ == "__main__":
    main()
